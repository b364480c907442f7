import statistics

counts = [833,594,649,566,669,300,580,637,285,274,480,585,304,564,272,401,701,181,397,370,312,861,479,770]

print("median", statistics.median(counts))
print("spread", round(statistics.stdev(counts), 1))
