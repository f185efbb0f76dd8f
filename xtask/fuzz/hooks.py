"""Puts ids of what there is in the place of made-up ones, so that requests come further than "no such thing".

Only ids that are well formed are replaced, and only by such: what is refused for its form stays refused. In the stateful
phase ids come from answers already. The service's own address is in TERRACE_URL.
"""

import os
import random
import re
import struct
import zlib
from functools import cache

import requests
import schemathesis
from hypothesis import strategies as st

BASE = os.environ["TERRACE_URL"]
UUID = re.compile(r"[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")
# How often: now and then an id of nothing is wanted, too.
OFTEN = 0.75


def png():
    """A picture of one pixel."""
    chunks = [(b"IHDR", struct.pack(">IIBBBBB", 1, 1, 8, 2, 0, 0, 0)), (b"IDAT", zlib.compress(bytes(4))), (b"IEND", b"")]
    sealed = [struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data)) for kind, data in chunks]
    return b"\x89PNG\r\n\x1a\n" + b"".join(sealed)


PNG = png()
schemathesis.openapi.media_type("image/png", st.one_of(st.just(PNG), st.binary().map(lambda end: PNG + end), st.binary()))

chance = random.Random(0)


@cache
def session():
    """A session of the fan who sends, or of whom others look at."""
    session = requests.Session()
    who = {"username": "mia", "password": "terrace-demo"}
    token = session.post(f"{BASE}/api/mobile-auth/login", json=who, timeout=30).json()["accessToken"]
    session.headers["Authorization"] = f"Bearer {token}"
    return session


def get(path):
    answer = session().get(f"{BASE}{path}", timeout=30)
    answer.raise_for_status()
    return answer.json()


@cache
def known():
    """Ids of what there is, by the names under which requests have them."""
    posts = [post["id"] for post in get("/api/locker-room?limit=100")["posts"]]
    comments = [
        (post, comment["id"]) for post in posts[:20] for comment in get(f"/api/locker-room/{post}/comments")["comments"]
    ]
    packs = [pack["id"] for pack in get("/api/packs")["packs"]]
    for nth, pack in enumerate(packs):
        headers = {"Idempotency-Key": f"hooks-{nth}"}
        session().post(f"{BASE}/api/packs/{pack}/purchase", json={}, headers=headers, timeout=30)
    quests = get("/api/quests")["quests"]
    board = get("/api/leaderboard")
    users = [entry["user"]["id"] for entry in board["entries"] if entry["user"]]
    return {
        "posts": posts,
        "comments": comments,
        "packs": packs,
        "questId": [quest["id"] for quest in quests],
        "stepId": [step["id"] for quest in quests for step in quest["steps"]],
        "teamId": [team["id"] for team in get("/api/teams?limit=100")["teams"]],
        "leagueId": [league["id"] for league in get("/api/leagues")["leagues"]],
        "leaderboardId": [board["id"] for board in get("/api/leaderboards")["leaderboards"]],
        "seasonId": [board["season"]["id"]],
        "userId": users,
        "around": [*users, "me"],
        "purchaseId": [purchase["id"] for purchase in get("/api/user/purchases")["purchases"]],
        "userPackId": [copy["id"] for copy in get("/api/user/packs")["packs"]],
    }


def subject(path):
    """What the `id` in the path is an id of."""
    for prefix, name in [
        ("/api/locker-room/", "posts"),
        ("/api/packs/", "packs"),
        ("/api/teams/", "teamId"),
        ("/api/leagues/", "leagueId"),
        ("/api/users/", "userId"),
        ("/api/user/purchases/", "purchaseId"),
        ("/api/user/recommended/", "userId"),
    ]:
        if path.startswith(prefix):
            return name
    return None


def replaced(name, value):
    """An id of what there is in the place of another, now and then."""
    pool = known().get("teamId" if name == "favoriteTeamId" else name)
    if pool and isinstance(value, str) and UUID.fullmatch(value) and chance.random() < OFTEN:
        return chance.choice(pool)
    return value


@schemathesis.hook
def before_call(context, case, kwargs):
    if case.meta is None or case.meta.phase.name.value == "stateful":
        return
    path, place = case.operation.path, case.path_parameters
    if place:
        pool = subject(path)
        for name in [name for name in ("id", "userId") if name in place]:
            place[name] = replaced(pool, place[name])
        if "commentId" in place and all(UUID.fullmatch(str(value)) for value in place.values()):
            if chance.random() < OFTEN and known()["comments"]:
                place["id"], place["commentId"] = chance.choice(known()["comments"])
    if isinstance(case.query, dict):
        for name, value in list(case.query.items()):
            case.query[name] = replaced(name, value)
    if isinstance(case.body, dict):
        for name, value in list(case.body.items()):
            case.body[name] = replaced(name, value)
