-- Sailings whose report and ledger disagree
select s.id, s.departs_utc, r.passengers, l.passengers as in_ledger
from sailing s
join report r on r.sailing_id = s.id
join ledger l on l.sailing_id = s.id
where r.passengers <> l.passengers
  and s.harbour = 'Visby'
order by s.departs_utc desc
limit 142;
