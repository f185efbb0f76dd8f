//! Renders a line chart as an SVG document.

use crate::report::Figure;
use serde_json::Value;
use std::fmt::Write;

const WIDTH: f64 = 760.0;
const HEIGHT: f64 = 400.0;
/// The margin for labels beside the axes.
const LEFT: f64 = 70.0;
const RIGHT: f64 = 20.0;
const TOP: f64 = 46.0;
const BOTTOM: f64 = 56.0;
/// Colours that people with colour blindness can distinguish (Okabe, Ito 2008).
const COLOURS: [&str; 4] = ["#0072b2", "#d55e00", "#009e73", "#cc79a7"];
/// The ticks within each power of ten.
const TICKS: [f64; 3] = [1.0, 2.0, 5.0];
/// The minimum number of steps on a linear axis.
const ENOUGH: f64 = 4.0;

/// A line of the chart.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Line {
    pub(crate) name: String,
    /// Points, sorted by the first coordinate.
    pub(crate) points: Vec<(f64, f64)>,
}

impl Line {
    /// A line for each figure whose details contain the list `list`: the numbers `across` and `up` of each entry.
    pub(crate) fn of_each(figures: &[Figure], list: &str, across: &str, up: &str) -> Vec<Self> {
        let point = |entry: &Value| Some((entry.get(across)?.as_f64()?, entry.get(up)?.as_f64()?));
        let line = |figure: &Figure| {
            let entries = figure.details.get(list)?.as_array()?;
            Some(Self {
                name: figure.database.to_owned(),
                points: entries.iter().filter_map(point).collect(),
            })
        };
        figures.iter().filter_map(line).collect()
    }
}

/// The scale of both axes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Axes {
    /// Logarithmic; all values must be positive.
    PowersOfTen,
    /// Linear, from zero.
    Even,
}

/// The content of a chart.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Chart {
    pub(crate) axes: Axes,
    pub(crate) title: String,
    pub(crate) across: String,
    pub(crate) up: String,
    pub(crate) lines: Vec<Line>,
    /// A named horizontal line.
    pub(crate) bound: Option<(String, f64)>,
}

/// An axis: its scale, its range, and its length in pixels.
struct Axis {
    axes: Axes,
    least: f64,
    most: f64,
    length: f64,
}

impl Axis {
    fn around(axes: Axes, values: impl Iterator<Item = f64>, length: f64) -> Self {
        let (mut least, mut most) = (f64::INFINITY, 0.0_f64);
        for value in values.filter(|value| *value > 0.0) {
            (least, most) = (least.min(value), most.max(value));
        }
        if most <= 0.0 {
            (least, most) = (1.0, 10.0);
        }
        let least = match axes {
            Axes::PowersOfTen => least * 0.9,
            Axes::Even => 0.0,
        };
        Self { axes, least, most: most * 1.1, length }
    }

    fn at(&self, value: f64) -> f64 {
        let scale = |value: f64| match self.axes {
            Axes::PowersOfTen => value.max(self.least).ln(),
            Axes::Even => value,
        };
        let share = (scale(value) - scale(self.least)) / (scale(self.most) - scale(self.least));
        share * self.length
    }

    fn ticks(&self) -> Vec<f64> {
        match self.axes {
            Axes::PowersOfTen => self.powers(),
            Axes::Even => self.even(),
        }
    }

    fn powers(&self) -> Vec<f64> {
        let mut ticks = Vec::new();
        let mut power = 10_f64.powf(self.least.log10().floor());
        while power <= self.most {
            let of_power = TICKS.iter().map(|tick| tick * power);
            ticks.extend(of_power.filter(|tick| *tick >= self.least && *tick <= self.most));
            power *= 10.0;
        }
        ticks
    }

    /// The largest round step that gives enough ticks.
    fn even(&self) -> Vec<f64> {
        let power = 10_f64.powf(self.most.log10().floor());
        let steps = TICKS.iter().rev().flat_map(|tick| [tick * power, tick * power / 10.0]);
        let wide = steps.filter(|step| self.most / step >= ENOUGH).fold(power / 10.0, f64::max);
        let ticks = (0_u32..).map(|count| f64::from(count) * wide);
        ticks.take_while(|tick| *tick <= self.most).collect()
    }
}

impl Chart {
    /// Renders the SVG document.
    pub(crate) fn to_svg(&self) -> String {
        let points = || self.lines.iter().flat_map(|line| &line.points);
        let bound = self.bound.iter().map(|(_, value)| *value);
        let x = Axis::around(self.axes, points().map(|point| point.0), WIDTH - LEFT - RIGHT);
        let y = Axis::around(self.axes, points().map(|point| point.1).chain(bound), HEIGHT - TOP - BOTTOM);
        let foot = HEIGHT - BOTTOM;
        let mut svg = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" \
             font-family=\"sans-serif\" font-size=\"12\">\n<title>{title}</title>\n\
             <rect width=\"{WIDTH}\" height=\"{HEIGHT}\" fill=\"#ffffff\"/>\n\
             <text x=\"{LEFT}\" y=\"20\" font-size=\"15\">{title}</text>\n",
            title = escaped(&self.title)
        );
        // Writing to a string cannot fail.
        for tick in x.ticks() {
            let at = LEFT + x.at(tick);
            let _ = writeln!(
                svg,
                "<path d=\"M{at:.1} {TOP}V{foot}\" stroke=\"#dddddd\"/>\
                 <text x=\"{at:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{}</text>",
                foot + 16.0,
                label(tick)
            );
        }
        for tick in y.ticks() {
            let at = foot - y.at(tick);
            let _ = writeln!(
                svg,
                "<path d=\"M{LEFT} {at:.1}H{:.1}\" stroke=\"#dddddd\"/>\
                 <text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\">{}</text>",
                WIDTH - RIGHT,
                LEFT - 6.0,
                at + 4.0,
                label(tick)
            );
        }
        if let Some((name, value)) = &self.bound {
            let at = foot - y.at(*value);
            let _ = writeln!(
                svg,
                "<path d=\"M{LEFT} {at:.1}H{:.1}\" stroke=\"#555555\" stroke-dasharray=\"5 4\"/>\
                 <text x=\"{:.1}\" y=\"{:.1}\">{}</text>",
                WIDTH - RIGHT,
                LEFT + 6.0,
                at - 5.0,
                escaped(name)
            );
        }
        let mut right = LEFT;
        for (line, colour) in self.lines.iter().zip(COLOURS.iter().cycle()) {
            let place = |(across, up): &(f64, f64)| (LEFT + x.at(*across), foot - y.at(*up));
            let path: Vec<String> =
                line.points.iter().map(place).map(|(x, y)| format!("{x:.1},{y:.1}")).collect();
            let _ = writeln!(
                svg,
                "<polyline points=\"{}\" fill=\"none\" stroke=\"{colour}\" stroke-width=\"2\"/>",
                path.join(" ")
            );
            for (x, y) in line.points.iter().map(place) {
                let _ = writeln!(svg, "<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"3\" fill=\"{colour}\"/>");
            }
            let _ = writeln!(
                svg,
                "<text x=\"{right:.1}\" y=\"38\" fill=\"{colour}\">{}</text>",
                escaped(&line.name)
            );
            right += 160.0;
        }
        let _ = writeln!(
            svg,
            "<text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{}</text>\n\
             <text transform=\"translate(16 {:.1}) rotate(-90)\" text-anchor=\"middle\">{}</text>\n</svg>",
            f64::midpoint(LEFT, WIDTH - RIGHT),
            HEIGHT - 14.0,
            escaped(&self.across),
            f64::midpoint(TOP, foot),
            escaped(&self.up)
        );
        svg
    }
}

/// The label of a tick.
fn label(value: f64) -> String {
    if value >= 1.0 || value <= 0.0 { format!("{value:.0}") } else { format!("{value}") }
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_point_lies_between_the_axes() {
        let points = vec![(500.0, 3.0), (1_000.0, 10.0), (4_000.0, 400.0)];
        let chart = Chart {
            axes: Axes::PowersOfTen,
            title: "p99 < 250 ms".to_owned(),
            across: "requests/s".to_owned(),
            up: "ms".to_owned(),
            lines: vec![Line { name: "SQLite".to_owned(), points: points.clone() }],
            bound: Some(("250 ms".to_owned(), 250.0)),
        };
        let svg = chart.to_svg();
        assert!(svg.starts_with("<svg ") && svg.ends_with("</svg>\n"), "{svg}");
        assert_eq!(svg.matches("<circle ").count(), points.len());
        assert!(svg.contains("p99 &lt; 250 ms") && svg.contains(">1000<") && svg.contains(">100<"), "{svg}");
        let x = Axis::around(chart.axes, points.iter().map(|point| point.0), 100.0);
        assert!(points.iter().all(|point| (0.0..=100.0).contains(&x.at(point.0))));
        assert!(x.at(500.0) < x.at(1_000.0) && x.at(1_000.0) < x.at(4_000.0));
    }

    #[test]
    fn even_axes_begin_at_zero_and_have_round_steps() {
        let axis = |most: f64| Axis::around(Axes::Even, [most].into_iter(), 110.0);
        assert!(axis(60.0).at(0.0).abs() < 1e-9 && (axis(60.0).at(60.0) - 100.0).abs() < 1e-9);
        assert_eq!(axis(60.0).ticks(), [0.0, 10.0, 20.0, 30.0, 40.0, 50.0, 60.0]);
        assert_eq!(axis(280.0).ticks(), [0.0, 50.0, 100.0, 150.0, 200.0, 250.0, 300.0]);
    }

    #[test]
    fn nothing_is_drawn_of_nothing() {
        let chart = Chart {
            axes: Axes::Even,
            title: String::new(),
            across: String::new(),
            up: String::new(),
            lines: vec![],
            bound: None,
        };
        assert!(!chart.to_svg().contains("<circle "));
    }
}
