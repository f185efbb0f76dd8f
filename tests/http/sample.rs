//! A small data set in which every operation of the document has something to work on.

use super::pictures::png;
use super::wallets::transfer;
use anyhow::Result;
use serde_json::{Value, json};
use std::sync::Arc;
use std::time::Duration;
use terrace_testkit::app::boards::StartSeason;
use terrace_testkit::app::rewards::AddTill;
use terrace_testkit::app::trivia::TriviaContent;
use terrace_testkit::app::wallets::SandboxWallets;
use terrace_testkit::kernel::Currency;
use terrace_testkit::ledger::{AccountKind, Holder, House};
use terrace_testkit::outbound::PushNetwork;
use terrace_testkit::{
    CRON_SECRET, Client, DatabaseKind, PASSWORD, PUSH_ENDPOINT, Request, TestService, push_body, push_sender,
    render_every_push, sandbox_secret, trivia,
};

/// A well-formed id that does not exist.
pub(super) const UNKNOWN: &str = "0190a6f2-7c1e-7abc-8def-0123456789ab";

/// The hash of a picture of the club's content.
const CONTENT_PICTURE: &str = "abababababababababababababababababababababababababababababababab";

/// Two entries of money, of which none is left.
fn spend_money(service: &TestService, user: &str) {
    let fan = Holder::Fan(user.parse().expect("an id"));
    let (euros, payments) = (AccountKind::Money(Currency::EUR), Holder::House(House::Payments));
    transfer(service, euros, (payments, fan), 5, "sample/in");
    transfer(service, euros, (fan, payments), 5, "sample/out");
}

/// One operation of the document.
pub(super) struct Operation {
    pub(super) id: String,
    pub(super) method: String,
    pub(super) template: String,
    pub(super) said: Value,
}

impl Operation {
    /// Whether it is refused without a session.
    pub(super) fn is_protected(&self) -> bool {
        let security = self.said["security"].as_array().expect("what it needs");
        !security.iter().any(|requirement| requirement.as_object().is_some_and(serde_json::Map::is_empty))
    }

    /// The required parameters of the query, with the examples in the document as values.
    fn required_query(&self) -> String {
        let parameters = self.said["parameters"].as_array().into_iter().flatten();
        let required =
            parameters.filter(|parameter| parameter["in"] == "query" && parameter["required"] == true);
        let pair = |parameter: &Value| {
            let examples = [&parameter["example"], &parameter["schema"]["example"]];
            let example = examples.into_iter().find_map(Value::as_str);
            let example = example.expect("an example of a required parameter");
            format!("{}={example}", parameter["name"].as_str().unwrap_or_default())
        };
        required.map(pair).collect::<Vec<_>>().join("&")
    }

    /// Whether an operator's timer calls it, with a separate secret.
    pub(super) fn is_of_timers(&self) -> bool {
        self.template.starts_with("/api/cron/")
    }

    /// Whether it is called by tills, with tokens of their own.
    pub(super) fn is_of_tills(&self) -> bool {
        self.template == "/api/redemptions"
    }

    /// Whether it takes messages that others have signed.
    pub(super) fn is_signed(&self) -> bool {
        self.template.starts_with("/api/webhooks/")
    }

    /// Whether it returns a picture. Pictures have no owner: credentials are not checked.
    pub(super) fn is_picture(&self) -> bool {
        ["/media/", "/content/"].iter().any(|path| self.template.starts_with(path))
    }

    /// Whether it reads no credentials: pictures, and what the client loads before it runs.
    pub(super) fn ignores_credentials(&self) -> bool {
        self.is_picture() || ["getTheme", "getManifest"].contains(&self.id.as_str())
    }

    /// Whether it takes JSON of clients.
    pub(super) fn has_body(&self) -> bool {
        self.said["requestBody"]["content"]["application/json"].is_object() && !self.is_signed()
    }

    /// Whether a request without a body is the same as one with `{}`.
    pub(super) fn may_omit_body(&self) -> bool {
        self.said["requestBody"]["required"] == false
    }

    /// Whether it takes a picture.
    pub(super) fn has_picture(&self) -> bool {
        self.said["requestBody"]["content"]["image/png"].is_object()
    }

    pub(super) fn parameters(&self, place: &str) -> Vec<String> {
        let parameters = self.said["parameters"].as_array().cloned().unwrap_or_default();
        let of_place = parameters.iter().filter(|parameter| parameter["in"] == place);
        of_place.map(|parameter| parameter["name"].as_str().unwrap_or_default().to_owned()).collect()
    }
}

/// A service with fans, and something of every kind that belongs to the first of them.
pub(super) struct Sample {
    pub(super) service: TestService,
    pub(super) mia: Client,
    pub(super) bo: Client,
    pub(super) user: String,
    pub(super) post: String,
    pub(super) comment: String,
    picture: String,
    session: String,
    team: String,
    league: String,
    refresh: String,
    /// A quest that the first fan has started, and a step of it that they may complete.
    quest: String,
    step: String,
    /// A fan to follow and a fan to block, for the first fan.
    others: [String; 2],
    /// A pack of which the first has a sealed copy and an opened one, and the purchase of these.
    pack: String,
    pub(super) purchase: String,
    /// A product and a variant of it.
    product: String,
    variant: String,
    /// Completed orders of the first. One of them is read and cancelled.
    order: String,
    completed: String,
    /// A purchase for money of the first that waits for its payment, if the service takes money.
    pending: Option<String>,
    /// A wallet of the first, if the service has a provider.
    wallet: Option<String>,
    /// A wheel that the first can pay for.
    wheel: String,
    /// A live round that is over, and a solo round in which the first has answered a question.
    rounds: [String; 2],
    /// A reward, an issued claim of the first, and the code of another one.
    reward: String,
    claim: String,
    code: String,
    /// The token of a till.
    till: String,
}

impl Sample {
    pub(super) fn start(kind: DatabaseKind) -> Result<Self> {
        let builder = TestService::builder(kind).with_sandbox();
        let builder = builder.with_minter().wallets(Arc::new(SandboxWallets::default()));
        let push = Arc::new(push_sender(PushNetwork::default()));
        Ok(Self::on(builder.push(push, render_every_push).start()?))
    }

    pub(super) fn on(service: TestService) -> Self {
        let (mia, bo) = (service.client(), service.fan("bo_"));
        let user = mia.register("mia");
        let login = json!({"username": "mia", "password": PASSWORD});
        let refresh = mia.post("/api/mobile-auth/login", &login).expect(200).str_at("/refreshToken");
        let session = mia.get("/api/user/sessions").expect(200).str_at("/sessions/0/id");
        let post = mia.create_post("What a save!");
        let comments = format!("/api/locker-room/{post}/comments");
        let comment =
            mia.post(&comments, &json!({"body": "And the rebound!"})).expect(201).str_at("/comment/id");
        bo.post(&format!("/api/locker-room/{post}/react"), &json!({"kind": "fire"})).expect(200);
        let team = mia.get("/api/teams").expect(200);
        let (team, league) = (team.str_at("/teams/0/id"), team.str_at("/teams/0/leagueId"));
        let picture =
            mia.ask("POST", "/api/media").body("image/png", png(7)).send().expect(201).str_at("/url");
        let others = ["gus", "hal"].map(|name| service.client().register(name));
        know_each_other(&service, &mia, &user);
        get_points(&service, [&user, &others[0]]);
        let [quest, step] = go_questing(&service, &mia);
        let [pack, purchase] = buy_packs(&mia);
        let hash = match service.storage().kind() {
            DatabaseKind::Sqlite => format!("x'{CONTENT_PICTURE}'"),
            DatabaseKind::Postgres => format!("decode('{CONTENT_PICTURE}', 'hex')"),
        };
        let picture_row = format!(
            "INSERT INTO content_pictures (hash, content_type, bytes) VALUES ({hash}, 'image/png', {hash})"
        );
        service.storage().execute_by_hand(&[&picture_row]).expect("a row");
        let products = mia.get("/api/products?kind=digital").expect(200);
        let (product, variant) =
            (products.str_at("/products/0/id"), products.str_at("/products/0/variants/0/id"));
        let [completed, order] = order_badges(&mia);
        put_badge(&mia);
        let pending = buy_for_money(&mia);
        announce_season(&service);
        spend_money(&service, &user);
        let wallet = service.app().wallet_networks().map(|networks| {
            let made = mia.post("/api/wallets", &json!({"network": networks[0].as_str()})).expect(201);
            service.run(service.app().provide_wallets()).expect("a working store");
            made.str_at("/wallet/id")
        });
        let wheel = spin_wheels(&service, &mia, &user);
        let rounds = play_rounds(&service, [&mia, &bo]);
        let [reward, claim, code] = claim_rewards(&mia);
        let till = service.run(service.app().execute(AddTill { name: "kiosk".to_owned() })).expect("a till");
        let till = till.expose().to_owned();
        Self {
            service,
            mia,
            bo,
            user,
            post,
            comment,
            picture,
            session,
            team,
            league,
            refresh,
            quest,
            step,
            others,
            pack,
            purchase,
            product,
            variant,
            order,
            completed,
            pending,
            wallet,
            wheel,
            rounds,
            reward,
            claim,
            code,
            till,
        }
    }

    /// Every operation of the document.
    pub(super) fn operations(&self) -> Vec<Operation> {
        let of_document = |(method, template, said): (String, &str, &Value)| Operation {
            id: said["operationId"].as_str().expect("a name").to_owned(),
            method,
            template: template.to_owned(),
            said: said.clone(),
        };
        let operations: Vec<_> = self.service.contract().operations().into_iter().map(of_document).collect();
        assert!(operations.len() > 20, "the document is nearly empty");
        operations
    }

    /// A target that fits the template and names existing resources, with the parameters that it requires.
    pub(super) fn target(&self, template: &str) -> String {
        if template == "/media/{hash}" {
            return self.picture.clone();
        }
        match template {
            "/content/crests/{file}" => return "/content/crests/foxes-cc3300-000000.svg".to_owned(),
            "/content/packs/{version}/{file}" => return "/content/packs/0/day.svg".to_owned(),
            "/content/collectibles/{version}/{file}" => {
                return "/content/collectibles/0/scarf.svg".to_owned();
            }
            "/content/pictures/{hash}" => return format!("/content/pictures/{CONTENT_PICTURE}"),
            _ => {}
        }
        if template.starts_with("/api/user/orders/") {
            return template.replace("{id}", &self.order);
        }
        if template.starts_with("/api/user/rewards/") {
            return template.replace("{id}", &self.claim);
        }
        if template.starts_with("/api/user/purchases/") {
            return template.replace("{id}", self.pending.as_ref().unwrap_or(&self.purchase));
        }
        if template == "/api/trivia/{id}/proof" {
            return template.replace("{id}", &self.rounds[0]);
        }
        let subject = template.split('/').nth(2).unwrap_or_default();
        let id = match subject {
            "users" => &self.user,
            "user" => &self.session,
            "leagues" => &self.league,
            "teams" => &self.team,
            "packs" => &self.pack,
            "wallets" => self.wallet.as_ref().unwrap_or(&self.session),
            "products" => &self.product,
            "rewards" => &self.reward,
            "wheel" => &self.wheel,
            "trivia" => &self.rounds[1],
            "cart" => &self.variant,
            "quests" => &self.quest,
            "locker-room" => &self.post,
            other => {
                return if template.contains('{') {
                    panic!("no sample for {other}")
                } else {
                    template.into()
                };
            }
        };
        template
            .replace("{id}", id)
            .replace("{commentId}", &self.comment)
            .replace("{userId}", &self.others[0])
            .replace("{username}", "mia")
    }

    /// The same with a query that has the parameters that the operation needs, and these.
    pub(super) fn target_with(&self, operation: &Operation, query: &str) -> String {
        let needed = match operation.id.as_str() {
            "readRelations" => format!("userIds={}", self.others.join(",")),
            // Only a search for one kind has pages.
            "search" if query.contains("limit") => format!("{}&kind=posts", operation.required_query()),
            _ => operation.required_query(),
        };
        let query: Vec<_> = [needed.as_str(), query].into_iter().filter(|part| !part.is_empty()).collect();
        let target = self.target(&operation.template);
        if query.is_empty() { target } else { format!("{target}?{}", query.join("&")) }
    }

    /// Leaves one line in the cart of the first, which can be ordered.
    pub(super) fn fill_cart(&self) {
        put_badge(&self.mia);
    }

    /// A valid request of the operation, with its parameters and body.
    pub(super) fn good<'c>(&self, client: &'c Client, operation: &Operation, target: &str) -> Request<'c> {
        let request = keyed(client.ask(&operation.method, target), operation);
        if operation.is_signed() {
            let body = br#"{"kind":"whatever","status":"whatever"}"#;
            let signature = sandbox_secret().sign(self.service.app().now(), body);
            request.header("terrace-signature", signature).body("application/json", body)
        } else if operation.has_picture() {
            request.body("image/png", png(8))
        } else if operation.has_body() {
            request.json(&self.body(&operation.id))
        } else {
            request
        }
    }

    /// A JSON body that the operation accepts.
    pub(super) fn body(&self, operation: &str) -> Value {
        match operation {
            "register" => json!({
                "username": "ana", "password": PASSWORD, "displayName": "Ana", "timeZone": "Europe/Lisbon",
            }),
            "putPushSubscription" => {
                push_body(PUSH_ENDPOINT, &self.mia.get("/api/push/key").expect(200).at("/keyId"))
            }
            "login" => json!({"username": "mia", "password": PASSWORD}),
            "mobileLogin" => json!({"username": "mia", "password": PASSWORD, "deviceName": "Mia's phone"}),
            "mobileRefresh" => json!({"refreshToken": self.refresh}),
            "changeProfile" => json!({
                "displayName": "Mia C", "bio": "Row 14.", "timeZone": "Europe/Rome", "favoriteTeamId": self.team,
                "leaderboardVisible": false,
            }),
            "changePassword" => json!({"currentPassword": PASSWORD, "newPassword": "another password"}),
            "deleteAccount" => json!({"password": PASSWORD}),
            "createPost" => json!({"body": "Another one.", "teamId": self.team}),
            "createComment" => json!({"body": "And the rebound!"}),
            "follow" | "unfollow" => json!({"userId": self.others[0]}),
            "block" | "unblock" => json!({"userId": self.others[1]}),
            "joinLeaderboard" | "leaveLeaderboard" => json!({"teamId": self.team}),
            "awardPoints" => json!({
                "userId": self.others[0], "amount": 5, "reason": "A ticket", "source": "import:ticket/1",
                "teamId": self.team,
            }),
            "react" => json!({"kind": "like"}),
            "startQuest" => json!({"questId": self.quest}),
            "completeStep" => json!({"stepId": self.step}),
            "checkProgress" | "visitDaily" => json!({}),
            "purchasePack" => json!({"quantity": 1}),
            "completePurchase" => json!({"purchaseId": self.purchase}),
            "openPack" => json!({"clientSeed": "kop"}),
            "putCartLine" => json!({"quantity": 2}),
            "checkOut" => json!({"quote": self.mia.get("/api/cart").expect(200).at("/cart/quote")}),
            "readNotifications" => json!({"upTo": 0}),
            "setNotificationPreferences" => json!({
                "kinds": {"reaction": {"inApp": true, "push": false}},
                "quietHours": {"from": "22:00", "to": "07:00"},
            }),
            "spinWheel" => spin_body(&self.mia, &self.wheel, "price"),
            "answerQuestion" => answered(&self.mia, &self.rounds[1]),
            "redeemCode" => json!({"code": self.code}),
            "completeOrder" => json!({"orderId": self.completed}),
            "mergeCart" => json!({"lines": [{"variantId": self.variant, "quantity": 1}]}),
            "putCartShipping" => json!({"method": "post", "address": super::cart::address()}),
            other => self.example(other).unwrap_or_else(|| panic!("no sample body for {other}")),
        }
    }

    /// The body that consists of the examples in the document; `None` if a field has no example.
    fn example(&self, operation: &str) -> Option<Value> {
        let said = self.operations().into_iter().find(|known| known.id == operation)?.said;
        let schema = said.pointer("/requestBody/content/application~1json/schema/$ref")?.as_str()?;
        let schema = self.service.contract().document().pointer(schema.trim_start_matches('#'))?;
        let fields = schema["properties"].as_object()?.iter();
        fields.map(|(name, field)| Some((name.clone(), field.get("example")?.clone()))).collect()
    }

    /// A client that may do it: a native client for what only those may do, else a browser of the sample's
    /// owner.
    pub(super) fn client_for(&self, operation: &Operation) -> Client {
        match operation.id.as_str() {
            "mobileLogout" => self.service.client().mobile_login("mia"),
            _ if operation.is_of_timers() => self.service.client().with_bearer(CRON_SECRET),
            _ if operation.is_of_tills() => self.service.client().with_bearer(&self.till),
            _ if operation.is_protected() => self.mia.fork(),
            _ => self.service.client(),
        }
    }

    /// The stored data, as far as the routes show it. Writes of a refused request would show here.
    pub(super) fn dump(&self) -> Value {
        let mut dump = Vec::new();
        for path in [
            "/api/locker-room?limit=100".to_owned(),
            format!("/api/locker-room/{}/comments?limit=100", self.post),
            "/api/user".to_owned(),
            "/api/user/sessions?limit=100".to_owned(),
            "/api/user/followers?limit=100".to_owned(),
            "/api/user/following?limit=100".to_owned(),
            "/api/user/blocks?limit=100".to_owned(),
            "/api/user/points?limit=100".to_owned(),
            "/api/wallets?limit=100".to_owned(),
            "/api/cash-balance/statement?limit=100".to_owned(),
            "/api/leaderboard?limit=100".to_owned(),
            "/api/leaderboards".to_owned(),
            "/api/quests".to_owned(),
            "/api/user/achievements".to_owned(),
            "/api/user/completed-quests?limit=100".to_owned(),
            "/api/packs".to_owned(),
            "/api/user/packs?limit=100".to_owned(),
            "/api/user/packs/opened?limit=100".to_owned(),
            "/api/user/collectibles?limit=100".to_owned(),
            "/api/user/purchases?limit=100".to_owned(),
            "/api/cart".to_owned(),
            "/api/user/orders?limit=100".to_owned(),
            "/api/user/rewards?limit=100".to_owned(),
            "/api/rewards?limit=100".to_owned(),
            "/api/user/rounds?limit=100".to_owned(),
        ] {
            for client in [&self.mia, &self.bo] {
                let mut seen = client.get(&path).expect(200).json();
                // On PostgreSQL events become public a little later than they happen.
                if let Some(fields) = seen.as_object_mut()
                    && self.service.storage().kind() == DatabaseKind::Postgres
                {
                    fields.remove("streamPosition");
                    fields.remove("version");
                }
                dump.push(seen);
            }
        }
        let ana = json!({"username": "ana", "password": PASSWORD});
        dump.push(json!(self.service.client().post("/api/login", &ana).status));
        Value::Array(dump)
    }
}

/// Plays the first question of a solo round, while a live round ends; returns the ids of both, the live one first. There are
/// two more rounds to come, one of which the first fan has joined.
fn play_rounds(service: &TestService, [mia, bo]: [&Client; 2]) -> [String; 2] {
    let now = service.app().now();
    let later =
        trivia(now.plus(Duration::from_hours(1)), |number| number).replace("key = \"", "key = \"later-");
    let text = format!("{}{later}", trivia(now, |number| number));
    let content = TriviaContent::parse(&text).expect("rounds");
    service.run(service.app().load_trivia(content)).expect("rounds that fit");
    let rounds = mia.get("/api/trivia").expect(200).list("/rounds");
    let [live, solo, later] = ["live", "solo", "later-live"].map(|key| {
        let found = rounds.iter().find(|round| round["key"] == key).expect("a round");
        found["id"].as_str().expect("an id").to_owned()
    });
    for (fan, round) in [(mia, &solo), (bo, &solo), (mia, &later)] {
        fan.ask("POST", &format!("/api/trivia/{round}/join")).send().expect(200);
    }
    let question = mia.ask("POST", &format!("/api/trivia/{solo}/next")).send().expect(200).at("/question");
    let answer = json!({"questionId": question["id"], "optionId": question["options"][0]["id"]});
    mia.post(&format!("/api/trivia/{solo}/answers"), &answer).expect(201);
    service.clock().advance(Duration::from_mins(3));
    [live, solo]
}

/// The fan's answer to the last question of a round, which may be given again.
fn answered(client: &Client, round: &str) -> Value {
    let exported = client.get("/api/user/export").expect(200).list("/rounds");
    let own = exported.iter().find(|one| one["roundId"] == round).expect("a round");
    let answer = &own["answers"][0]["answer"];
    json!({"questionId": answer["questionId"], "optionId": answer["optionId"]})
}

/// The body of a fan's next spin.
fn spin_body(client: &Client, wheel: &str, pay: &str) -> Value {
    let shown = client.get(&format!("/api/wheel/{wheel}")).expect(200);
    json!({"pay": pay, "serverSeedHash": shown.at("/wheel/me/serverSeedHash"), "clientSeed": "kop"})
}

/// Spins a wheel for nothing and another one for coins; returns the id of a wheel that costs some.
fn spin_wheels(service: &TestService, mia: &Client, user: &str) -> String {
    let fan = Holder::Fan(user.parse().expect("an id"));
    transfer(service, AccountKind::Coins, (Holder::House(House::Issuance), fan), 100, "sample/coins");
    let wheels = mia.get("/api/wheel").expect(200).list("/wheels");
    let [daily, lucky] = ["daily", "lucky"].map(|key| {
        let found = wheels.iter().find(|wheel| wheel["key"] == key).expect("a wheel");
        found["id"].as_str().expect("an id").to_owned()
    });
    let spin = mia.ask("POST", &format!("/api/wheel/{daily}/spin")).header("idempotency-key", "sample-spin");
    spin.json(&spin_body(mia, &daily, "free")).send().expect(201);
    let spin = mia.ask("POST", &format!("/api/wheel/{lucky}/spin")).header("idempotency-key", "sample-paid");
    spin.json(&spin_body(mia, &lucky, "price")).send().expect(201);
    lucky
}

/// The id of a reward that a fan may claim again, the id of an issued claim of it, and the code of another claim.
fn claim_rewards(mia: &Client) -> [String; 3] {
    let rewards = mia.get("/api/rewards").expect(200).list("/rewards");
    let claim = |key: &str| {
        let found = rewards.iter().find(|reward| reward["key"] == key).expect("a reward");
        let target = format!("/api/rewards/{}/claim", found["id"].as_str().expect("an id"));
        mia.ask("POST", &target).header("idempotency-key", key).send().expect(201)
    };
    let (drink, banner) = (claim("drink"), claim("banner"));
    [banner.str_at("/claim/rewardId"), banner.str_at("/claim/id"), drink.str_at("/claim/code")]
}

/// Two fans who follow the first fan and are followed back, and two whose accounts the first blocks: lists
/// that are longer than a page of one.
fn know_each_other(service: &TestService, mia: &Client, user: &str) {
    for name in ["cleo", "dan"] {
        let client = service.client();
        let id = client.register(name);
        client.post("/api/user/follow", &json!({"userId": user})).expect(200);
        mia.post("/api/user/follow", &json!({"userId": id})).expect(200);
    }
    for name in ["eve", "fay"] {
        mia.post("/api/user/block", &json!({"userId": service.client().register(name)})).expect(200);
    }
}

/// Two fans who have two records of points each.
fn get_points(service: &TestService, users: [&str; 2]) {
    let timer = service.client().with_bearer(CRON_SECRET);
    for (user, fact) in users.iter().flat_map(|user| ["one", "two"].map(|fact| (user, fact))) {
        let award =
            json!({"userId": user, "amount": 60, "reason": "A game", "source": format!("import:{fact}")});
        timer.post("/api/cron/award-points", &award).expect(200);
    }
}

/// The request with an idempotency key, where the operation needs one.
pub(super) fn keyed<'c>(request: Request<'c>, operation: &Operation) -> Request<'c> {
    match operation.id.as_str() {
        "purchasePack" | "openPack" | "checkOut" | "claimReward" | "spinWheel" => {
            request.header("idempotency-key", "sample")
        }
        _ => request,
    }
}

/// Buys copies of a pack in two purchases, and opens two; returns the ids of the pack and of a purchase.
fn buy_packs(mia: &Client) -> [String; 2] {
    let pack = mia.get("/api/packs").expect(200).str_at("/packs/0/id");
    let keyed = |path: &str, key: &str, body: &Value| {
        mia.ask("POST", path).header("idempotency-key", key).json(body).send()
    };
    let buy = format!("/api/packs/{pack}/purchase");
    keyed(&buy, "first", &json!({"quantity": 3})).expect(201);
    let purchase = keyed(&buy, "second", &json!({})).expect(201).str_at("/purchase/id");
    for key in ["first", "second"] {
        keyed(&format!("/api/packs/{pack}/open"), key, &json!({})).expect(200);
    }
    [pack, purchase]
}

/// Puts a badge into the cart, and nothing else; returns the quote of the cart.
fn put_badge(mia: &Client) -> String {
    for line in mia.get("/api/cart").expect(200).list("/cart/lines") {
        let variant = line["variant"]["id"].as_str().expect("an id");
        super::cart::put(mia, variant, &json!({"quantity": 0})).expect(200);
    }
    let (badge, _) = super::cart::variant(mia, "badge");
    super::cart::put(mia, &badge, &json!({"quantity": 1})).expect(200).str_at("/cart/quote")
}

/// Orders a badge twice; returns the ids of the orders.
fn order_badges(mia: &Client) -> [String; 2] {
    let order = |key: &str| {
        let body = json!({"quote": put_badge(mia)});
        let request = mia.ask("POST", "/api/checkout").header("idempotency-key", key).json(&body);
        request.send().expect(201).str_at("/order/id")
    };
    ["one", "two"].map(order)
}

/// A second season, so that the list of seasons is longer than a page of one. It begins after every test.
fn announce_season(service: &TestService) {
    let starts_at = Some(service.app().now().plus(Duration::from_hours(20 * 365 * 24)));
    let key = "next".parse().expect("a key");
    let season = StartSeason { key, name: "Next".to_owned(), starts_at, ends_at: None };
    service.run(service.app().execute(season)).expect("a season");
}

/// Buys a pack for money, if the service takes money; returns the id of the purchase, which waits for its payment.
fn buy_for_money(mia: &Client) -> Option<String> {
    let packs = mia.get("/api/packs").expect(200).list("/packs");
    let pack = packs.iter().find(|pack| pack["price"]["kind"] == "money")?["id"].as_str()?.to_owned();
    let path = format!("/api/packs/{pack}/purchase");
    let answer = mia.ask("POST", &path).header("idempotency-key", "money").json(&json!({})).send();
    (answer.status == 201).then(|| answer.str_at("/purchase/id"))
}

/// Completes two quests, and starts a third, whose step can be completed.
fn go_questing(service: &TestService, mia: &Client) -> [String; 2] {
    let start = |quest: &serde_json::Value| {
        mia.post("/api/quests/start", &json!({"questId": quest["id"]})).expect(200);
    };
    let list = service.client().get("/api/quests").expect(200).json();
    let (daily, ladder, after) = (&list["quests"][1], &list["quests"][2], &list["quests"][3]);
    for quest in [daily, ladder] {
        start(quest);
        for step in 0..2 {
            mia.post("/api/quests/complete-step", &json!({"stepId": quest["steps"][step]["id"]})).expect(200);
        }
    }
    start(after);
    [&after["id"], &after["steps"][0]["id"]].map(|id| id.as_str().expect("an id").to_owned())
}
