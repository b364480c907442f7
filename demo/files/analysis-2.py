import statistics

counts = [668,802,716,468,731,370,390,128,389,346,256,787,130,842,242,203,573,790,799,144,846,323,377,404]

print("median", statistics.median(counts))
print("spread", round(statistics.stdev(counts), 1))
