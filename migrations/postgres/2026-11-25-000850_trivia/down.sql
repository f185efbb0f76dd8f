DROP TABLE trivia_answers;
DROP TABLE trivia_players;
DROP TABLE trivia_rounds;
