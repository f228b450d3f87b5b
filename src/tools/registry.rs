//! Name → tool: the base, built once and never changed, and a task's view of it.

use crate::refusals::{disabled, twice};
use std::sync::Arc;

use crate::bits::Bits;
use crate::foreign::meant;
use crate::{Handler, Tool, aliases};
use selkie_domain::approval::{Approvers, Exposure};
use selkie_domain::spelling::nearest;
use selkie_domain::tool::{Class, ToolBlock, ToolSpec};
use selkie_domain::transcript::Call;

/// How many near names an unknown one is answered with.
const NEAR: usize = 3;

/// A tool, and whether config leaves it on.
pub struct ToolEntry {
    /// The tool.
    pub tool: Arc<Tool>,
    /// Its switch.
    pub enabled: bool,
    /// Why it cannot be there, whatever its switch.
    pub absent: Option<String>,
}

impl ToolEntry {
    /// A tool with its switch.
    pub fn new(enabled: bool, handler: impl Handler + 'static) -> Self {
        Self { enabled, ..Tool::new(handler).into() }
    }

    /// Says why it is not there; nothing when it is.
    pub fn why_not(&self) -> Option<String> {
        let off = (!self.enabled).then(|| disabled(self.tool.spec().name));
        off.or_else(|| self.absent.clone())
    }
}

impl From<Arc<Tool>> for ToolEntry {
    /// A tool that has no switch.
    fn from(tool: Arc<Tool>) -> Self {
        Self { tool, enabled: true, absent: None }
    }
}

/// Every static tool, built once.
pub struct Base {
    tools: Vec<Arc<Tool>>,
    classes: [Bits; Class::ALL.len()],
    disabled: Bits,
}

impl Base {
    /// Builds the base. A name that stands twice is a defect and refused. Tools that config switches off are known,
    /// listed nowhere, never called.
    ///
    /// # Errors
    /// The name that stands twice.
    pub fn build<T: Into<ToolEntry>>(tools: impl IntoIterator<Item = T>) -> Result<Self, String> {
        let mut tools: Vec<ToolEntry> = tools.into_iter().map(Into::into).collect();
        tools.sort_by_key(|r| r.tool.spec().name);
        let name = |r: &ToolEntry| r.tool.spec().name;
        if let Some(pair) = tools.windows(2).find(|pair| name(&pair[0]) == name(&pair[1])) {
            return Err(twice(name(&pair[0])));
        }
        let mut classes = Class::ALL.map(|_| Bits::none(tools.len()));
        let mut disabled = Bits::none(tools.len());
        for (at, registered) in tools.iter().enumerate() {
            classes[registered.tool.spec().class as usize].insert(at);
            if !registered.enabled {
                disabled.insert(at);
            }
        }
        let tools = tools.into_iter().map(|registered| registered.tool).collect();
        Ok(Self { tools, classes, disabled })
    }

    /// Returns the specs of all tools, sorted by name.
    pub fn specs(&self) -> Vec<Arc<ToolSpec>> {
        self.tools.iter().map(|t| Arc::clone(t.spec())).collect()
    }

    /// Whether a tool of this name is in the base.
    pub fn contains(&self, name: &str) -> bool {
        self.position(name).is_some()
    }

    /// Returns the spec of a tool of the base.
    pub fn spec(&self, name: &str) -> Option<&Arc<ToolSpec>> {
        self.position(name).map(|at| self.tools[at].spec())
    }

    #[cfg(test)]
    pub(super) fn switched(&self, enabled: bool) -> Vec<&'static str> {
        let at = |at: &usize| self.disabled.contains(*at) != enabled;
        (0..self.tools.len()).filter(at).map(|at| self.tools[at].spec().name).collect()
    }

    /// Returns our name of a tool that is called by another harness's; any other name stays.
    pub fn our_name<'a>(&self, called: &'a str) -> &'a str {
        let specs: Vec<&ToolSpec> = self.tools.iter().map(|tool| &**tool.spec()).collect();
        aliases::our_name(called, &specs)
    }

    fn position(&self, name: &str) -> Option<usize> {
        self.tools.binary_search_by_key(&name, |t| t.spec().name).ok()
    }
}

/// The tools a rule speaks of: whole classes, and some by name. Prepared once over the base.
#[derive(Clone, Debug)]
pub struct Selection {
    classes: Vec<Class>,
    names: Vec<String>,
    bits: Bits,
}

impl Selection {
    /// Prepares a selection. Names that the base does not have may be runtime tools'.
    pub fn over(base: &Base, classes: &[Class], names: &[&str]) -> Self {
        let mut bits = Bits::none(base.tools.len());
        for class in classes {
            bits.join(&base.classes[*class as usize]);
        }
        names.iter().filter_map(|n| base.position(n)).for_each(|at| bits.insert(at));
        let names = names.iter().map(|n| (*n).to_owned()).collect();
        Self { classes: classes.to_vec(), names, bits }
    }

    /// Whether the tool is one of them.
    pub fn covers(&self, spec: &ToolSpec) -> bool {
        self.covers_as(spec, spec.class)
    }

    /// Whether the tool would be one of them, were it of this class.
    fn covers_as(&self, spec: &ToolSpec, class: Class) -> bool {
        self.classes.contains(&class) || self.names.iter().any(|n| n == spec.name)
    }
}

/// A rule at work in one view: what it hides, what is spared, and why, in words.
#[derive(Clone)]
pub struct Hide {
    /// For the model and for people: `hidden in groups: …`.
    pub reason: Arc<str>,
    /// What it hides.
    pub what: Arc<Selection>,
    /// What is spared all the same.
    pub except: Option<Arc<Selection>>,
}

impl Hide {
    fn hides(&self, spec: &ToolSpec) -> bool {
        self.hides_as(spec, spec.class)
    }

    fn hides_as(&self, spec: &ToolSpec, class: Class) -> bool {
        let is_spared = self.except.as_ref().is_some_and(|e| e.covers_as(spec, class));
        self.what.covers_as(spec, class) && !is_spared
    }

    fn bits(&self) -> Bits {
        let mut bits = self.what.bits.clone();
        if let Some(except) = &self.except {
            bits.leave_out(&except.bits);
        }
        bits
    }
}

/// The rules of a view that ask before a call, in the form of those that hide, and who is asked.
#[derive(Clone, Default)]
pub struct AskRules {
    /// Each with what it asks for.
    pub rules: Vec<Hide>,
    /// Who can allow it.
    pub of: Approvers,
    /// Tools whose calls need no approval but for other people's words, by the owner's policy.
    pub freed: Vec<String>,
}

/// The runtime tools around a view, none of which knows a task: a call brings its own scope.
#[derive(Clone, Default)]
pub struct Overlay {
    /// Those that stand in the place of the base's of the same name.
    pub instead: Vec<Arc<Tool>>,
    /// Those of this setting, in the order the model sees them, after the base.
    pub there: Vec<Arc<Tool>>,
    /// Those of other settings, and why they are not here.
    pub absent: Vec<(Arc<Tool>, String)>,
}

impl Overlay {
    /// Returns what stands in the place of a tool of the base: itself, where nothing does.
    fn of<'t>(&'t self, tool: &'t Arc<Tool>) -> &'t Arc<Tool> {
        let name = tool.spec().name;
        self.instead.iter().find(|other| other.spec().name == name).unwrap_or(tool)
    }
}

/// What one task may call: a shared base seen through shared bitsets, and a short overlay.
#[derive(Clone)]
pub struct Registry {
    view: Arc<View>,
}

/// What all tasks of one shape share.
struct View {
    base: Arc<Base>,
    hides: Vec<Hide>,
    asks: AskRules,
    hidden: Bits,
    overlay: Overlay,
    block: Arc<ToolBlock>,
}

/// What a name stands for in one task.
pub enum NameLookup {
    /// A tool that may be called.
    Tool(Arc<Tool>),
    /// A tool that is not here, and every reason why.
    Hidden(Vec<String>),
    /// No tool of that name; the nearest ones of this task.
    Unknown(Vec<String>),
}

impl Registry {
    /// Views the base through `hides` with an overlay. Costs a look at every tool: made once per shape
    /// and shared (`shape` keeps them), never per task.
    pub fn view(base: Arc<Base>, hides: Vec<Hide>, overlay: Overlay) -> Self {
        Self::view_asking(base, hides, AskRules::default(), overlay)
    }

    /// The same with rules that ask before a call.
    pub fn view_asking(
        base: Arc<Base>,
        hides: Vec<Hide>,
        asks: AskRules,
        overlay: Overlay,
    ) -> Self {
        let mut hidden = base.disabled.clone();
        hides.iter().for_each(|h| hidden.join(&h.bits()));
        let of_base = base.tools.iter().enumerate().filter(|(at, _)| !hidden.contains(*at));
        let mut specs: Vec<_> = of_base.map(|(_, t)| Arc::clone(overlay.of(t).spec())).collect();
        let on_top = overlay.there.iter().map(|t| t.spec());
        specs.extend(on_top.filter(|s| !hides.iter().any(|h| h.hides(s))).cloned());
        let block = Arc::new(ToolBlock::new(specs));
        Self { view: Arc::new(View { base, hides, asks, hidden, overlay, block }) }
    }

    /// Looks a name up.
    pub fn find(&self, name: &str) -> NameLookup {
        let view = &*self.view;
        if let Some(tool) = view.runtime(name) {
            let reasons = view.reasons(tool.spec());
            return if reasons.is_empty() {
                NameLookup::Tool(Arc::clone(tool))
            } else {
                NameLookup::Hidden(reasons)
            };
        }
        if let Some(at) = view.base.position(name) {
            return if view.hidden.contains(at) {
                NameLookup::Hidden(view.reasons_of_base(at))
            } else {
                NameLookup::Tool(Arc::clone(view.overlay.of(&view.base.tools[at])))
            };
        }
        let absent: Vec<String> = view.absent_reasons(name);
        if absent.is_empty() {
            NameLookup::Unknown(self.near(name))
        } else {
            NameLookup::Hidden(absent)
        }
    }

    /// Returns the most that this task gets of a tool that it knows; `None` for any other name.
    pub fn exposure(&self, name: &str) -> Option<Exposure> {
        match self.find(name) {
            NameLookup::Unknown(_) => None,
            NameLookup::Hidden(reasons) => Some(Exposure::Hidden(reasons)),
            NameLookup::Tool(tool) => Some(self.exposure_as(tool.spec(), tool.spec().class)),
        }
    }

    /// Returns the most that this task gets of a call of `tool` that does what tools of `class` do.
    pub fn exposure_as(&self, tool: &ToolSpec, class: Class) -> Exposure {
        let at_work = |rules: &[Hide]| -> Vec<String> {
            reasons(rules.iter().filter(|rule| rule.hides_as(tool, class)))
        };
        let View { hides, asks, .. } = &*self.view;
        let hiding = at_work(hides);
        if !hiding.is_empty() {
            return Exposure::Hidden(hiding);
        }
        let reasons = at_work(&asks.rules);
        match reasons.is_empty() {
            true => Exposure::Free,
            false => Exposure::Ask { of: asks.of, reasons },
        }
    }

    /// Returns who can allow a call.
    pub fn approvers(&self) -> Approvers {
        self.view.asks.of
    }

    /// Whether calls of a tool need no approval but for other people's words.
    pub fn is_freed(&self, name: &str) -> bool {
        self.view.asks.freed.iter().any(|freed| freed == name)
    }

    /// Returns a call in this task's words, whatever words the model was taught: the transcript keeps
    /// canonical names and parameters.
    pub fn canonical(&self, call: Call) -> Call {
        aliases::canonical(meant(call), &self.view.known())
    }

    /// Returns this task's name of a tool that is called by another harness's.
    pub fn our_name<'a>(&self, called: &'a str) -> &'a str {
        aliases::our_name(called, &self.view.known())
    }

    /// Returns the listed tools, serialized once for all tasks of this shape.
    pub fn block(&self) -> &Arc<ToolBlock> {
        &self.view.block
    }

    /// Returns the base that is seen, the same for all tasks.
    pub fn base(&self) -> &Arc<Base> {
        &self.view.base
    }

    /// Returns why a tool would be hidden, were nothing spared.
    pub fn spared(&self, name: &str) -> Vec<String> {
        let view = &*self.view;
        let of_base = view.base.position(name).map(|at| &view.base.tools[at]);
        let Some(tool) = of_base.or_else(|| view.runtime(name)) else { return Vec::new() };
        let sparing = view.hides.iter().filter(|h| h.except.is_some());
        let hides = sparing.filter(|h| h.what.covers(tool.spec()));
        hides.map(|h| h.reason.to_string()).collect()
    }

    /// Whether the name is a runtime tool of this setting, hidden or not.
    pub fn is_runtime(&self, name: &str) -> bool {
        self.view.runtime(name).is_some()
    }

    /// Returns every tool that is not here with every reason: the base's, then the runtime ones.
    pub fn hidden(&self) -> Vec<(Arc<ToolSpec>, Vec<String>)> {
        let view = &*self.view;
        let of_base = (0..view.base.tools.len()).filter(|at| view.hidden.contains(*at));
        let mut all: Vec<_> = of_base
            .map(|at| (Arc::clone(view.base.tools[at].spec()), view.reasons_of_base(at)))
            .collect();
        let on_top = view.overlay.there.iter().map(|t| (Arc::clone(t.spec()), t.spec()));
        all.extend(on_top.map(|(s, t)| (s, view.reasons(t))).filter(|(_, r)| !r.is_empty()));
        for (tool, _) in &view.overlay.absent {
            let name = tool.spec().name;
            if view.runtime(name).is_none() && !all.iter().any(|(s, _)| s.name == name) {
                all.push((Arc::clone(tool.spec()), view.absent_reasons(name)));
            }
        }
        all
    }

    fn near(&self, name: &str) -> Vec<String> {
        let mut names: Vec<&str> = self.block().specs().iter().map(|s| s.name).collect();
        let mut near = Vec::new();
        while let Some(best) = nearest(name, names.iter().copied()).filter(|_| near.len() < NEAR) {
            near.push(best.to_owned());
            names.retain(|n| *n != best);
        }
        near
    }
}

impl View {
    /// Every tool that has a name here, whether it may be called or not.
    fn known(&self) -> Vec<&ToolSpec> {
        let absent = self.overlay.absent.iter().map(|(tool, _)| tool);
        let all = self.base.tools.iter().chain(&self.overlay.there).chain(absent);
        all.map(|tool| &**tool.spec()).collect()
    }

    fn runtime(&self, name: &str) -> Option<&Arc<Tool>> {
        self.overlay.there.iter().find(|t| t.spec().name == name)
    }

    fn reasons(&self, spec: &ToolSpec) -> Vec<String> {
        reasons(self.hides.iter().filter(|h| h.hides(spec)))
    }

    fn reasons_of_base(&self, at: usize) -> Vec<String> {
        let spec = self.base.tools[at].spec();
        let off = self.base.disabled.contains(at).then(|| disabled(spec.name));
        off.into_iter().chain(self.reasons(spec)).collect()
    }

    fn absent_reasons(&self, name: &str) -> Vec<String> {
        let absent = self.overlay.absent.iter().filter(|(t, _)| t.spec().name == name);
        absent.map(|(_, why)| why.clone()).collect()
    }
}

/// What rules say, once: several may say the same.
fn reasons<'h>(rules: impl Iterator<Item = &'h Hide>) -> Vec<String> {
    let mut reasons: Vec<String> = Vec::new();
    for rule in rules {
        if !reasons.iter().any(|reason| **reason == *rule.reason) {
            reasons.push(rule.reason.to_string());
        }
    }
    reasons
}
