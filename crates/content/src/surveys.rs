//! Surveys: how easy people find the store, on a scale. **An answer is a number and who gave it**,
//! so that each person counts once; it is told as a sum only, and sent nowhere.

use contract::rest::route::{CREATE, READ, Route};
use contract::rest::{Args, Refusal, Reply, Schema, Stop};
use frame::action::{Action, anyone, memory, read, write};
use frame::options::{self, Definition, Kind, option};
use frame::{Call, Names, Options};
use serde_json::{Map, Value, json};
use types::Capability;

const STORED: &str = "boardwalk_surveys";
/// The option that holds the answers: by survey, the score of each user.
pub(crate) const ANSWERS: Definition = option(STORED, Kind::Json, "{}");
/// Answers to one survey that are kept; the oldest go first.
const ANSWERS_MAX: usize = 500;
const SCORE_MIN: i64 = 1;
const SCORE_MAX: i64 = 5;

struct Survey {
    slug: &'static str,
    question: &'static str,
    /// Who may answer.
    may: Capability,
}

const SURVEYS: &[Survey] = &[
    Survey { slug: "ordering", question: "How easy is it to order here?", may: Capability::Read },
    Survey {
        slug: "managing",
        question: "How easy is it to manage the store?",
        may: Capability::ManageWoocommerce,
    },
];

pub(crate) fn routes(names: &Names) -> Vec<Route<Action>> {
    let at = |path: &str| Route::at(&names.survey, path);
    let slug = || Args::new().arg("slug", Schema::text().about("Name of the survey."));
    let score = || {
        let score = Schema::integer().min(SCORE_MIN).max(SCORE_MAX);
        score.about("From 1, very hard, to 5, very easy.")
    };
    let text = |about: &str| Schema::text().about(about);
    let survey = Schema::object([
        ("slug", text("Name of the survey.")),
        ("question", text("What is asked.")),
        ("minimum", Schema::integer().about("Lowest score.")),
        ("maximum", Schema::integer().about("Highest score.")),
    ]);
    let given = Schema::object([("survey", text("Name of the survey.")), ("score", score())]);
    let result = Schema::object([
        ("survey", text("Name of the survey.")),
        ("count", Schema::integer().about("People who answered.")),
        ("average", Schema::types(&["number", "null"]).about("Their average score.")),
        ("scores", Schema::list(Schema::integer()).about("How many gave each score, from 1.")),
    ]);
    vec![
        at("/surveys").on(READ, Args::new(), memory(anyone, list)).shows(Schema::list(survey)),
        at(r"/surveys/(?P<slug>[\w-]+)/answers")
            .on(READ, slug(), read(may_see, see))
            .shows(result)
            .on(CREATE, slug().arg("score", score().required()), write(may_answer, answer))
            .creates()
            .shows(given),
    ]
}

#[expect(clippy::unnecessary_wraps, reason = "it has the form of every operation")]
fn list(_: &mut Call<'_>) -> Result<Reply, Stop> {
    let each = SURVEYS.iter().map(|survey| {
        json!({
            "slug": survey.slug, "question": survey.question,
            "minimum": SCORE_MIN, "maximum": SCORE_MAX,
        })
    });
    Ok(Reply::new(each.collect::<Vec<_>>()))
}

fn named(call: &Call<'_>) -> Result<&'static Survey, Stop> {
    let slug = call.params.text("slug").unwrap_or_default();
    let missing = || Refusal::new(404, "rest_survey_not_found", "There is no such survey.");
    Ok(SURVEYS.iter().find(|survey| survey.slug == slug).ok_or_else(missing)?)
}

fn may_see(call: &mut Call<'_>) -> Result<(), Stop> {
    let message = "You are not allowed to see the answers.";
    call.need(Capability::ManageWoocommerce, "rest_cannot_view", message)
}

fn may_answer(call: &mut Call<'_>) -> Result<(), Stop> {
    let message = "You are not allowed to answer this survey.";
    let needed = named(call).map_or(Capability::Read, |survey| survey.may);
    call.need(needed, "rest_cannot_create", message)
}

/// The scores of a survey, by the number of the user.
fn scores(options: &Options, survey: &Survey) -> Map<String, Value> {
    let stored = options.get(STORED);
    stored.get(survey.slug).and_then(Value::as_object).cloned().unwrap_or_default()
}

fn see(call: &mut Call<'_>) -> Result<Reply, Stop> {
    let survey = named(call)?;
    let given: Vec<i64> =
        scores(call.options(), survey).values().filter_map(Value::as_i64).collect();
    let sum: i64 = given.iter().sum();
    let count = i64::try_from(given.len()).unwrap_or(i64::MAX);
    // Hundredths, so that no reader is told of a precision that is not there.
    let average = (count > 0).then(|| json!(sum * 100 / count));
    let average = average.and_then(|hundredths| hundredths.as_f64()).map(|value| value / 100.0);
    let each =
        (SCORE_MIN..=SCORE_MAX).map(|score| given.iter().filter(|one| **one == score).count());
    Ok(Reply::new(json!({
        "survey": survey.slug,
        "count": count,
        "average": average,
        "scores": each.collect::<Vec<_>>(),
    })))
}

fn answer(call: &mut Call<'_>) -> Result<Reply, Stop> {
    let survey = named(call)?;
    let score = call.params.int("score").unwrap_or(SCORE_MIN);
    let options = Options::read(call.conn()?)?;
    let mut given = scores(&options, survey);
    let user = call.user_id().to_string();
    given.shift_remove(&user);
    while given.len() >= ANSWERS_MAX {
        let Some(oldest) = given.keys().next().cloned() else { break };
        given.shift_remove(&oldest);
    }
    given.insert(user, json!(score));
    let mut stored = options.get(STORED).as_object().cloned().unwrap_or_default();
    stored.insert(survey.slug.to_owned(), Value::Object(given));
    options::set(call.conn()?, STORED, &Value::Object(stored))?;
    let mut reply = Reply::new(json!({ "survey": survey.slug, "score": score }));
    reply.status = 201;
    Ok(reply)
}
