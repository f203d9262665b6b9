//! What each command does, once its words and the settings are read.

mod analytics;
mod audit;
mod backup;
mod demo;
mod doctor;
mod encryption;
mod export;
mod import;
mod iso;
mod mail;
mod onboard;
mod plugin;
mod privacy;
mod remote;
mod serve;
mod user;

use clap::CommandFactory as _;
use serde_json::Value;
use types::{Error, Result};

use crate::args::{Args, Command, Common, Config as ConfigCommand, Interface};
use crate::config::{self, Config, Settings};
use crate::output::{self, Printer};
use crate::remote::Remote;

pub(crate) fn run(args: Args, printer: &Printer) -> Result<()> {
    let Args { common, command } = args;
    let command = match command {
        Command::Completions { shell } => {
            let mut text = Vec::new();
            clap_complete::generate(shell, &mut Args::command(), "boardwalk", &mut text);
            output::document(String::from_utf8_lossy(&text).trim_end());
            return Ok(());
        }
        Command::Man { folder } => {
            return clap_mangen::generate_to(Args::command(), &folder).map_err(|error| {
                let message = format!("cannot write man pages to {}", folder.display());
                Error::unavailable(message).because(error)
            });
        }
        Command::Openapi { interface } => {
            return print_openapi(&common, interface);
        }
        Command::Plugin(command) => return plugin::plugin(command, printer),
        Command::Profile(command) => {
            return remote::profile(common.server.as_ref(), command, printer);
        }
        command => command,
    };
    if let Some(server) = chosen(&common, &command)? {
        return on_server(&server, &common, command, printer);
    }
    if remote::needs_server(&command) {
        return Err(Error::invalid(
            "this command needs a server: add --server URL and --api-key KEY, or --profile NAME",
        ));
    }
    let config = Config::load(&common)?;
    match command {
        Command::Serve(serve) => serve::serve(config, &common, serve, printer),
        Command::Demo(demo) => demo::demo(config, &common, demo, printer),
        Command::Iso(command) => iso::iso(&config, &common, command, printer),
        Command::Audit(command) => audit::audit(&config, &common, command, printer),
        Command::Key(command) => iso::key(&config, &common, command, printer),
        Command::Template(command) => iso::template(&config, &common, command, printer),
        Command::Merchant(command) => iso::merchant(&config, &common, command, printer),
        Command::User(command) => user::user(&config, &common, command, printer),
        Command::Onboard(onboard) => onboard::onboard(&config, &common, &onboard, printer),
        Command::Import(command) => import::import(&config, &common, command, printer),
        Command::Export(command) => export::export(&config, &common, command, printer),
        Command::Analytics(command) => analytics::analytics(&config, &common, &command, printer),
        Command::Privacy(command) => privacy::privacy(&config, &common, command, printer),
        Command::Mail(command) => mail::mail(&config, &common, command, printer),
        Command::Backup { file } => backup::backup(&config, &common, &file, printer),
        Command::Backups => backup::list(&config, &common, printer),
        Command::Restore(restore) => backup::restore(&config, &common, &restore, printer),
        Command::Encryption(command) => encryption::encryption(&config, &common, command, printer),
        Command::Doctor { full } => doctor::doctor(&config, &common, full, printer),
        Command::Config(ConfigCommand::Print { commented }) => {
            print_config(&config, commented, printer)
        }
        // These need no configuration, or a server, and were carried out before.
        Command::Completions { .. }
        | Command::Listen(_)
        | Command::Mcp(_)
        | Command::Profile(_)
        | Command::Store(_)
        | Command::Tpn(_)
        | Command::Webhook(_)
        | Command::Connect(_)
        | Command::Man { .. }
        | Command::Openapi { .. }
        | Command::Plugin(_) => Ok(()),
    }
}

/// The server that the command line names, if it names one.
fn chosen(common: &Common, command: &Command) -> Result<Option<Remote>> {
    if matches!(command, Command::Mcp(_)) && common.api_key.as_deref() == Some("-") {
        return Err(Error::invalid(
            "standard input is for the protocol; give the key by a variable or a profile",
        ));
    }
    Remote::chosen(common)
}

fn on_server(server: &Remote, common: &Common, command: Command, printer: &Printer) -> Result<()> {
    match command {
        Command::Mcp(mcp) => {
            let document = openapi_document(common, mcp.interface)?;
            remote::mcp::serve(server, &document, &mcp)
        }
        command => remote::run(server, command, printer),
    }
}

fn print_config(config: &Config, commented: bool, printer: &Printer) -> Result<()> {
    let config = config.without_secrets();
    let text = if commented {
        config::print(&Config::default(), Settings::Commented)?
    } else {
        config::print(&config, Settings::Set)?
    };
    let object = serde_json::to_value(&config)
        .map_err(|error| Error::internal("cannot print the configuration").because(error))?;
    printer.result(&object, text.trim_end());
    Ok(())
}

fn print_openapi(common: &Common, interface: Interface) -> Result<()> {
    let document = openapi_document(common, interface)?;
    let text = serde_json::to_string_pretty(&document)
        .map_err(|error| Error::internal("cannot serialize the document").because(error))?;
    output::document(&text);
    Ok(())
}

fn openapi_document(common: &Common, interface: Interface) -> Result<Value> {
    Ok(match interface {
        Interface::Onboarding => onboarding::endpoints::openapi_document(),
        Interface::Rest => {
            let Config { site: settings, admin, .. } = Config::load(common)?;
            let admin = admin::Admin::new(&admin)?;
            let reports = server::Reports::default();
            let routes = server::routes(&settings.names, &reports, &admin)?;
            frame::openapi::document(&settings, routes)?
        }
    })
}
