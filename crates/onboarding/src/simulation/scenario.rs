//! Failures on demand, by the header `X-Sandbox-Scenario`.

use std::time::Duration;

use types::Environment;

use crate::Code;

/// A delay may last this long at most.
const DELAY_MAX: Duration = Duration::from_secs(5);

/// What the header `X-Sandbox-Scenario` asks for, such as
/// `code=unknown_zip; param=storeData.zipCode; delay=200`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Scenario {
    pub code: Option<Code>,
    pub param: String,
    pub delay: Duration,
    pub status: Option<u16>,
    /// Commit, and then hang up instead of answering.
    pub drop_after_commit: bool,
}

impl Scenario {
    /// Reads the header; an error says what cannot be read.
    pub fn read(environment: Environment, header: Option<&str>) -> Result<Self, String> {
        let mut scenario = Self::default();
        let Some(header) = header.filter(|_| environment == Environment::Sandbox) else {
            return Ok(scenario);
        };
        for part in header.split(';').filter(|part| !part.trim().is_empty()) {
            scenario.read_part(part).ok_or_else(|| {
                String::from("Write code=CODE; param=PATH; delay=MS; status=N; drop=after_commit.")
            })?;
        }
        Ok(scenario)
    }

    fn read_part(&mut self, part: &str) -> Option<()> {
        let (name, value) = part.split_once('=')?;
        let value = value.trim();
        match name.trim() {
            "code" => self.code = Some(Code::ALL.iter().copied().find(|c| c.name() == value)?),
            "param" => value.clone_into(&mut self.param),
            "delay" => self.delay = Duration::from_millis(value.parse().ok()?).min(DELAY_MAX),
            "status" => {
                self.status = Some(value.parse().ok().filter(|s| (400..600).contains(s))?);
            }
            "drop" if value == "after_commit" => self.drop_after_commit = true,
            _ => return None,
        }
        Some(())
    }

    /// The code and status of an answer that has nothing to do with the content of the request.
    pub fn outright(&self) -> Option<(Code, u16)> {
        let status = self.status.or_else(|| self.code.map(Code::status))?;
        let usual = || Code::ALL.iter().copied().find(|code| code.status() == status);
        let code = self.code.or_else(usual).unwrap_or(Code::InternalError);
        (status != 400).then_some((code, status))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_scenario_is_read() {
        let header = "code=unknown_zip; param=storeData.zipCode; delay=99999; drop=after_commit";
        let scenario = Scenario::read(Environment::Sandbox, Some(header)).unwrap();
        assert_eq!(scenario.code, Some(Code::UnknownZip));
        assert_eq!(scenario.param, "storeData.zipCode");
        assert_eq!(scenario.delay, DELAY_MAX);
        assert!(scenario.drop_after_commit && scenario.outright().is_none());
        for header in ["code=unavailable; status=503", "code=unavailable", "status=503;"] {
            let down = Scenario::read(Environment::Sandbox, Some(header)).unwrap();
            assert_eq!(down.outright(), Some((Code::Unavailable, 503)), "{header}");
        }
    }

    #[test]
    fn nonsense_is_refused_and_production_reads_nothing() {
        for nonsense in ["code", "code=nope", "status=200", "delay=-1", "=;=", "unknown_zip"] {
            assert!(Scenario::read(Environment::Sandbox, Some(nonsense)).is_err(), "{nonsense}");
            let ignored = Scenario::read(Environment::Production, Some(nonsense));
            assert_eq!(ignored, Ok(Scenario::default()), "{nonsense}");
        }
        let header = Some("code=unknown_zip; drop=after_commit");
        assert_eq!(Scenario::read(Environment::Production, header), Ok(Scenario::default()));
    }
}
