//! Files of faces: sent in a form beside the settings, which name the fields that they are in. They
//! lie in the library's storage, and go with their face.

use std::collections::HashMap;
use std::sync::Arc;

use contract::rest::{Refusal, Reply, Stop};
use frame::Call;
use frame::action::Later;
use frame::library::{NotTaken, Placed};
use frame::media::shown::UPLOADS_PATH;
use serde_json::{Map, Value, json};
use site_rows::media::{self, MediaFileRow};

use super::settings::invalid;
use super::{Fonts, checked_face, delete, insert_face};
use crate::media::to_the_end;

/// Files of one face.
const FILES_MAX: usize = 12;
/// Bytes of a form with all files of a face.
pub(super) const FORM_BYTES_MAX: usize = 16 << 20;

/// Whoever asked may go; rows and files stay together.
pub(super) async fn create_face(fonts: Arc<Fonts>, call: Later) -> Result<Reply, Stop> {
    to_the_end(call, |call| create(fonts, call)).await
}

async fn create(fonts: Arc<Fonts>, call: Later) -> Result<Reply, Stop> {
    let looking = Arc::clone(&fonts);
    call.look(move |call| {
        let (_, settings) = checked_face(&looking, call)?;
        check_sources(&looking, call, &settings)
    })
    .await?;
    let mut placed: Vec<(String, Placed)> = Vec::new();
    for file in call.params.files() {
        let taken = call.site.place_font(file.file_name.clone(), file.bytes.clone()).await;
        placed.push((file.field.clone(), taken.map_err(not_taken)?));
    }
    let placed = Arc::new(placed);
    let writing = Arc::clone(&placed);
    let reply = call
        .attempt(move |call| {
            let (family, mut settings) = checked_face(&fonts, call)?;
            let paths: HashMap<&str, String> = writing
                .iter()
                .map(|(field, file)| (field.as_str(), format!("{UPLOADS_PATH}{}", file.file)))
                .collect();
            if let Some(src) = settings.get_mut("src") {
                *src = with_paths(src, &paths);
            }
            let (face_id, reply) = insert_face(&fonts, call, settings, family)?;
            for (_, file) in writing.iter() {
                file.record_files(call.conn()?, face_id)?;
            }
            Ok(reply)
        })
        .await?;
    placed.iter().for_each(|(_, file)| file.keep());
    Ok(reply)
}

fn not_taken(reason: NotTaken) -> Stop {
    match reason {
        NotTaken::Type => {
            let message = "The file is not a font of the type that its name says.";
            Refusal::new(400, "rest_font_upload_invalid_file_type", message).into()
        }
        other => other.into_stop(),
    }
}

/// Every source is an address or the field of a file, and every file is a source.
fn check_sources(
    fonts: &Fonts,
    call: &Call<'_>,
    settings: &Map<String, Value>,
) -> Result<(), Stop> {
    let (name, files) = (fonts.settings, call.params.files());
    let sources = sources(settings);
    for source in &sources {
        let is_address =
            url::Url::parse(source).is_ok_and(|address| super::SCHEMES.contains(&address.scheme()));
        if !is_address && !files.iter().any(|file| file.field == *source) {
            let message = format!("{name}[src] must be addresses, or fields of uploaded files.");
            return Err(invalid(name, message));
        }
    }
    if let Some(unused) = files.iter().find(|file| !sources.contains(&file.field.as_str())) {
        let message = format!("File {} must be used in {name}[src].", unused.field);
        return Err(invalid(name, message));
    }
    if files.len() > FILES_MAX {
        return Err(invalid(name, format!("A face may have {FILES_MAX} files.")));
    }
    Ok(())
}

fn sources(settings: &Map<String, Value>) -> Vec<&str> {
    match settings.get("src") {
        Some(Value::Array(list)) => list.iter().filter_map(Value::as_str).collect(),
        Some(Value::String(text)) => vec![text],
        _ => Vec::new(),
    }
}

/// The sources with the paths of files in place of their fields.
fn with_paths(src: &Value, paths: &HashMap<&str, String>) -> Value {
    match src {
        Value::Array(list) => list.iter().map(|one| with_paths(one, paths)).collect(),
        Value::String(text) => paths.get(text.as_str()).map_or_else(|| src.clone(), |p| json!(p)),
        other => other.clone(),
    }
}

/// The sources as clients fetch them: our own files have whole addresses.
pub(super) fn shown(call: &Call<'_>, settings: &mut Value) {
    let whole = |text: &str| {
        if text.starts_with(UPLOADS_PATH) { call.visit.page(text) } else { text.to_owned() }
    };
    match settings.get_mut("src") {
        Some(Value::String(text)) => *text = whole(text),
        Some(Value::Array(list)) => {
            for one in list {
                if let Value::String(text) = one {
                    *text = whole(text);
                }
            }
        }
        _ => {}
    }
}

/// Deletes a face, or a family with its faces, and then their files.
pub(super) async fn delete_with_files(fonts: Arc<Fonts>, call: Later) -> Result<Reply, Stop> {
    to_the_end(call, |call| async move {
        let (reply, files) = call
            .attempt(move |call| {
                let (reply, ids) = delete(&fonts, call)?;
                let mut files: Vec<MediaFileRow> = Vec::new();
                for id in ids {
                    files.extend(media::free_files(call.conn()?, id)?);
                }
                Ok((reply, files))
            })
            .await?;
        call.site.remove_files(files).await;
        Ok(reply)
    })
    .await
}
