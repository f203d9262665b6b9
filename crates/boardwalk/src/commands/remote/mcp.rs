//! `boardwalk mcp`: the operations of a server as tools for assistants, over the Model Context
//! Protocol on standard input and output, with the caller's own key.
//!
//! **Nothing is changed unless `--allow-writes` says so**: without it, tools that write are neither
//! listed nor carried out. What the server refuses is a failed tool with the server's message.

mod tools;

use std::sync::Arc;

use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, Implementation,
    ListToolsResult, PaginatedRequestParams, ServerCapabilities, ServerConfig, Tool,
};
use rmcp::service::RequestContext;
use rmcp::{ErrorData, RoleServer, ServerHandler, ServiceExt as _};
use serde_json::Value;
use types::{Error, Result};

use self::tools::{Operation, Tools};
use crate::args::{Interface, Mcp};
use crate::remote::{Peer, Remote, Scheme};

/// Longer answers would fill an assistant's memory with one call.
const ANSWER_CHARS_MAX: usize = 200_000;

/// Groups of the REST interface that are offered if none is named: there are far more operations
/// than an assistant can choose from.
const REST_GROUPS: &[&str] = &["wc/v3"];

const INSTRUCTIONS: &str = "Tools are the operations of a Boardwalk server: onboarding of \
    merchants, their stores and terminals, or a shop. Lists come in pages. Times are in UTC.";

/// Serves tools until standard input ends.
pub(crate) fn serve(remote: &Remote, document: &Value, args: &Mcp) -> Result<()> {
    let (scheme, usual) = match args.interface {
        Interface::Onboarding => (Scheme::ApiKey, &[][..]),
        Interface::Rest => (Scheme::Basic, REST_GROUPS),
    };
    let named = args.groups.iter().map(String::as_str);
    let groups: Vec<&str> = if args.groups.is_empty() { usual.to_vec() } else { named.collect() };
    let tools = Tools::derive(document, &groups)?;
    let desk = Desk { peer: remote.peer(), scheme, tools, allow_writes: args.allow_writes };
    remote.block_on(async {
        let running = desk.serve(rmcp::transport::stdio()).await;
        let running = running.map_err(|error| {
            Error::invalid("standard input does not speak the Model Context Protocol")
                .because(error)
        })?;
        running.waiting().await.map_err(|error| Error::internal("the service ended").because(error))
    })?;
    Ok(())
}

/// Where assistants ask.
struct Desk {
    peer: Arc<Peer>,
    scheme: Scheme,
    tools: Tools,
    allow_writes: bool,
}

impl Desk {
    fn offers(&self, operation: &Operation) -> bool {
        self.allow_writes || !operation.writes()
    }

    async fn carry_out(
        &self,
        operation: &Operation,
        request: CallToolRequestParams,
    ) -> Result<String> {
        if !self.offers(operation) {
            return Err(Error::invalid(format!(
                "{} changes data; restart `boardwalk mcp` with --allow-writes to allow it",
                request.name
            )));
        }
        let request = operation.request(&request.arguments.unwrap_or_default())?;
        let answer = self.peer.ask(self.scheme, request).await?.to_string();
        let length = answer.chars().count();
        if length > ANSWER_CHARS_MAX {
            return Err(Error::invalid(format!(
                "the response has {length} characters, more than {ANSWER_CHARS_MAX}; ask for less, \
                 with a filter or a smaller page"
            )));
        }
        Ok(answer)
    }
}

impl ServerHandler for Desk {
    fn get_info(&self) -> ServerConfig {
        let version = env!("CARGO_PKG_VERSION");
        let about = Implementation::new("boardwalk", version).with_title("Boardwalk");
        ServerConfig::new(ServerCapabilities::builder().enable_tools().build())
            .with_server_info(about)
            .with_instructions(INSTRUCTIONS)
    }

    async fn list_tools(
        &self,
        _page: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> std::result::Result<ListToolsResult, ErrorData> {
        let offered = self.tools.all().filter(|operation| self.offers(operation));
        let tools: Vec<Tool> = offered.map(|operation| operation.tool().clone()).collect();
        Ok(ListToolsResult::with_all_items(tools))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> std::result::Result<CallToolResponse, ErrorData> {
        let Some(operation) = self.tools.find(&request.name) else {
            let message = format!("there is no tool {}", request.name);
            return Err(ErrorData::invalid_params(message, None));
        };
        let result = match self.carry_out(operation, request).await {
            Ok(answer) => CallToolResult::success(vec![ContentBlock::text(answer)]),
            Err(error) => CallToolResult::error(vec![ContentBlock::text(error.to_string())]),
        };
        Ok(result.into())
    }
}
