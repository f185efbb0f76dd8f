DROP TABLE user_achievements;
DROP TABLE daily_visits;
DROP TABLE user_step_status;
DROP TABLE user_quest_status;
DROP TABLE quest_steps;
DROP TABLE quest_prerequisites;
DROP TABLE quests;
