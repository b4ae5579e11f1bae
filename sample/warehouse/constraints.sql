-- Foreign keys of the large tables, and the indexes: made after the rows are in, in a tenth of the time.
-- churn_events.customer_id, ops.support_tickets.customer_id and headcount.team have no foreign key, on purpose.

ALTER TABLE public.orders
ADD FOREIGN KEY (customer_id) REFERENCES public.customers (customer_id);

ALTER TABLE public.order_lines
ADD FOREIGN KEY (order_id, order_date) REFERENCES public.orders (order_id, order_date),
ADD FOREIGN KEY (product_id) REFERENCES public.products (product_id);

ALTER TABLE ops.support_tickets
ADD FOREIGN KEY (product_id) REFERENCES public.products (product_id);

CREATE INDEX orders_customer ON public.orders (customer_id);
CREATE INDEX orders_date ON public.orders (order_date);
CREATE INDEX order_lines_product ON public.order_lines (product_id);
CREATE INDEX churn_events_customer ON public.churn_events (customer_id);
CREATE INDEX support_tickets_customer ON ops.support_tickets (customer_id);
CREATE INDEX support_tickets_opened ON ops.support_tickets (opened_at);
