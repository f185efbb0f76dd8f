DROP FUNCTION relay_events(BIGINT);
