//! What one stream carries: one part of the events, or several, each of which is a channel.

use crate::streams::frame::{Encoded, Frame};
use crate::streams::kind::{ByKind, Kind};
use crate::streams::log::Taken;
use crate::streams::view::{Part, Visibility};
use bytes::{BufMut, Bytes, BytesMut};
use std::fmt::Write;
use std::iter;
use std::sync::Arc;
use terrace_app::streams::{Audience, ReaderView, ViewParts, Wanted};
use terrace_kernel::{Event, Position, UserId};

/// Size in bytes at which a chunk is passed to the connection, which writes it before it polls again.
const CHUNK: usize = 16 * 1024;

/// The parts of the events that a stream carries.
#[derive(Debug, Clone)]
pub(crate) struct Interest {
    /// Private events are last.
    parts: Arc<[Part]>,
    /// Whether events name the channels that they belong to.
    is_combined: bool,
}

/// A reader with what differs between readers.
pub(crate) type Viewing<'a> = Option<(UserId, &'a ReaderView)>;

impl Interest {
    /// A stream of one part, whose events name no channel.
    pub(crate) fn single(part: Part) -> Self {
        Self { parts: Arc::new([part]), is_combined: false }
    }

    /// A stream of several parts, whose events name those that they belong to.
    pub(crate) fn combined(mut parts: Vec<Part>) -> Self {
        parts.sort_by_key(|part| part.kind() == Kind::Fans);
        Self { parts: parts.into(), is_combined: true }
    }

    pub(crate) fn parts(&self) -> &[Part] {
        &self.parts
    }

    /// The kinds of the events.
    pub(crate) fn kinds(&self) -> ByKind<bool> {
        ByKind::of(|kind| self.parts.iter().any(|part| part.kind() == kind))
    }

    /// The stream's name in metrics.
    pub(crate) fn name(&self) -> &'static str {
        match self.parts.first() {
            Some(part) if !self.is_combined => part.kind().name(),
            Some(_) | None => "combined",
        }
    }

    /// The parts of the reader's view that the stream needs.
    pub(crate) fn needs(&self) -> ViewParts {
        self.parts.iter().fold(ViewParts::default(), |needs, part| needs.and(part.needs()))
    }

    /// The fan whose private events the stream carries.
    pub(crate) fn fan(&self) -> Option<UserId> {
        match self.parts.last() {
            Some(Part::Own(fan)) => Some(*fan),
            Some(_) | None => None,
        }
    }

    /// The parts without private events.
    pub(crate) fn shared(&self) -> &[Part] {
        match &*self.parts {
            [shared @ .., Part::Own(_)] => shared,
            all => all,
        }
    }

    /// Whether all readers without hidden accounts see the same of the shared parts.
    pub(crate) fn is_common(&self) -> bool {
        !self.shared().is_empty() && self.shared().iter().all(|part| part.is_common())
    }

    /// Whether both have the same shared parts, and name them in the same way.
    pub(crate) fn shares_with(&self, other: &Self) -> bool {
        self.is_combined == other.is_combined && self.shared() == other.shared()
    }

    /// An event that belongs to every channel.
    pub(crate) fn to_all(&self, event: &Encoded, position: Position) -> Bytes {
        let mut output = Output::new(self);
        output.write(event, position, self.parts.iter().copied());
        output.finish().0
    }
}

/// Selects the events for a client that reconnects: only those that its parts can contain.
impl Audience for Interest {
    fn wants(&self, event: &Event) -> Wanted {
        self.parts.iter().map(|part| part.wants(event)).fold(Wanted::default(), |all, wanted| Wanted {
            shared: all.shared || wanted.shared,
            own: all.own || wanted.own,
        })
    }
}

/// The events that one reader gets at once.
///
/// The shared encoding of an event is copied. In a combined stream, the channels are written before the fields of its
/// data, and of the events of one position only the last has an `id`, which then is its last line.
pub(crate) struct Output<'a> {
    interest: &'a Interest,
    text: BytesMut,
    /// The position of the first event.
    first: Option<Position>,
    /// The position of the last event, if its end is not written yet.
    unfinished: Option<Position>,
}

impl<'a> Output<'a> {
    pub(crate) fn new(interest: &'a Interest) -> Self {
        Self { interest, text: BytesMut::new(), first: None, unfinished: None }
    }

    /// Appends what the reader may see of an event. Events come in the order of their positions.
    pub(crate) fn take(&mut self, frame: &Frame, reader: Viewing<'_>) -> Taken {
        let interest = self.interest;
        let mut seen = interest.parts.iter().filter_map(|part| {
            let sight = part.sight(&frame.about, reader);
            (sight != Visibility::Nothing).then_some((*part, sight))
        });
        if let Some((part, sight)) = seen.next() {
            // How much of an event a reader sees does not depend on the channel.
            self.write(
                &frame.seen(sight),
                frame.position,
                iter::once(part).chain(seen.map(|(part, _)| part)),
            );
        }
        if self.text.len() < CHUNK { Taken::More } else { Taken::Enough }
    }

    fn write(&mut self, event: &Encoded, position: Position, channels: impl Iterator<Item = Part>) {
        self.first.get_or_insert(position);
        if !self.interest.is_combined {
            self.text.put_slice(event.text());
            return;
        }
        self.end_event(Some(position));
        self.text.put_slice(event.before_fields());
        self.text.put_slice(b"\"channels\":[");
        for (number, channel) in channels.enumerate() {
            let comma = if number == 0 { "" } else { "," };
            // Writing to memory cannot fail.
            let _ = write!(self.text, "{comma}\"{channel}\"");
        }
        self.text.put_slice(b"]");
        let fields = event.fields();
        if !fields.starts_with(b"}") {
            self.text.put_slice(b",");
        }
        self.text.put_slice(fields);
        self.unfinished = Some(position);
    }

    /// Ends the last event before one of position `next`: it has an `id` if it is the last of its position.
    fn end_event(&mut self, next: Option<Position>) {
        if let Some(position) = self.unfinished.take() {
            if next != Some(position) {
                let _ = writeln!(self.text, "id: {position}");
            }
            self.text.put_slice(b"\n");
        }
    }

    /// The text, and the position of the first event in it.
    pub(crate) fn finish(mut self) -> (Bytes, Option<Position>) {
        self.end_event(None);
        (self.text.freeze(), self.first)
    }
}
