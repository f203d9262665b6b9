//! Paths such as `tpnData.tpnProcessor.profile[0].Mid` into a JSON document.

use anyhow::{Context as _, Result, ensure};
use serde_json::{Map, Value};

#[derive(Debug, PartialEq, Eq)]
enum Part<'a> {
    Name(&'a str),
    Index(usize),
}

fn parts(path: &str) -> Result<Vec<Part<'_>>> {
    let mut parts = Vec::new();
    for piece in path.split('.') {
        let mut names = piece.split('[');
        parts.push(Part::Name(names.next().unwrap_or_default()));
        for index in names {
            let digits = index.strip_suffix(']').unwrap_or(index);
            parts.push(Part::Index(
                digits.parse().with_context(|| format!("{path}: {digits:?} is not an index"))?,
            ));
        }
    }
    Ok(parts)
}

/// The value at a path such as `$.data.tpn`; none if there is nothing.
pub(super) fn find<'a>(document: &'a Value, path: &str) -> Result<Option<&'a Value>> {
    let mut place = document;
    for part in parts(path.strip_prefix("$.").unwrap_or(path))? {
        let next = match part {
            Part::Name(name) => place.get(name),
            Part::Index(index) => place.get(index),
        };
        match next {
            Some(value) => place = value,
            None => return Ok(None),
        }
    }
    Ok(Some(place))
}

/// Puts a value at a path. Objects on the way are made; the index after the last appends.
pub(super) fn set(document: &mut Value, path: &str, value: Value) -> Result<()> {
    let mut parts = parts(path)?;
    let last = parts.pop().context("a path has parts")?;
    let mut place = document;
    for part in parts {
        place = match part {
            Part::Name(name) => {
                members(place, path)?.entry(name).or_insert_with(|| Value::Object(Map::new()))
            }
            Part::Index(index) => {
                items(place, path)?.get_mut(index).with_context(|| nothing_at(path))?
            }
        };
    }
    match last {
        Part::Name(name) => drop(members(place, path)?.insert(name.to_owned(), value)),
        Part::Index(index) => {
            let items = items(place, path)?;
            if index == items.len() {
                items.push(value);
            } else {
                *items.get_mut(index).with_context(|| nothing_at(path))? = value;
            }
        }
    }
    Ok(())
}

/// Takes away what is at a path, which must be there.
pub(super) fn unset(document: &mut Value, path: &str) -> Result<()> {
    let mut parts = parts(path)?;
    let last = parts.pop().context("a path has parts")?;
    let mut place = document;
    for part in parts {
        let next = match part {
            Part::Name(name) => place.get_mut(name),
            Part::Index(index) => place.get_mut(index),
        };
        place = next.with_context(|| nothing_at(path))?;
    }
    match last {
        Part::Name(name) => {
            // The order of the others is part of the request, so nothing may be swapped.
            let removed = members(place, path)?.shift_remove(name);
            ensure!(removed.is_some(), nothing_at(path));
        }
        Part::Index(index) => {
            let items = items(place, path)?;
            ensure!(index < items.len(), nothing_at(path));
            items.remove(index);
        }
    }
    Ok(())
}

fn members<'a>(place: &'a mut Value, path: &str) -> Result<&'a mut Map<String, Value>> {
    place.as_object_mut().with_context(|| format!("{path} leads through something not an object"))
}

fn items<'a>(place: &'a mut Value, path: &str) -> Result<&'a mut Vec<Value>> {
    place.as_array_mut().with_context(|| format!("{path} leads through something not an array"))
}

fn nothing_at(path: &str) -> String {
    format!("there is nothing at {path}")
}
