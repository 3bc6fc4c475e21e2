-- Those that wait for data providers, and that a deadline may end.
CREATE INDEX computations_pending_fulfillment ON computations (create_time, id)
  WHERE state = 'PENDING_FULFILLMENT' AND role = 'AGGREGATOR';
