//! `GET /v1/device-models`: which manufacturer makes which device, for forms that offer no others.
//! **The table is that of [`crate::device_models`]**, by which requests are checked.

use contract::{Answer, Endpoint, Failure, Route};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{Cx, device_models};

/// List the manufacturers of devices and what each of them makes.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct DeviceModelList {}

/// All devices that a TPN can have.
#[derive(Debug, Serialize, JsonSchema)]
pub struct DeviceModels {
    /// The manufacturers.
    data: Vec<DeviceMakerView>,
}

/// A manufacturer of devices.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct DeviceMakerView {
    /// Its name, as `deviceManufacturer` of a TPN shows it.
    device_manufacturer: &'static str,
    /// Other names that `deviceManufacturer` accepts.
    other_names: Vec<&'static str>,
    /// What `deviceModel` can be with it.
    device_models: Vec<&'static str>,
}

impl Endpoint<Cx> for DeviceModelList {
    const ROUTE: Route = Route::get("/v1/device-models").public();
    type Reply = DeviceModels;

    async fn handle(self, _: &Cx) -> Result<Answer<DeviceModels>, Failure> {
        let view = |(names, models): (&'static [&'static str], &'static [&'static str])| {
            let (first, others) = names.split_first()?;
            Some(DeviceMakerView {
                device_manufacturer: first,
                other_names: others.to_vec(),
                device_models: models.to_vec(),
            })
        };
        Ok(Answer::new(DeviceModels { data: device_models::makers().filter_map(view).collect() }))
    }
}
