SET LOCAL synchronous_commit TO off;
