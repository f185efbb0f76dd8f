DROP TABLE spins;
DROP TABLE spin_states;
DROP TABLE spin_tables;
DROP TABLE wheel_segments;
DROP TABLE wheels;
