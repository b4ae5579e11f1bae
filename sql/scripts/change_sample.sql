-- What the demo does to the sample warehouse between two nights: a margin column gets another name, another one goes.
ALTER TABLE public.monthly_margins RENAME net_margin TO net_result;
ALTER TABLE public.monthly_margins DROP freight_cost;
