"use strict";
// Where lines run, as chains of cubic curves: cut at a head, led from box to box, and where a number finds room on them.
// A course is a list of points: where it begins, and for each curve its two handles and its end.
// A block, since scripts share the names at their top.
{
  // Bends to try for a new line, as shares of its length, and how close it may come to a box that is not its own.
  const BENDS = [0, 0.07, -0.07, 0.13, -0.13, 0.2, -0.2, 0.28, -0.28, 0.38, -0.38];
  const CLEARANCE = 4;
  // Shares of the length of a line at which its number may stand, in the order in which they are tried.
  const SHARES = [0.5, 0.44, 0.56, 0.38, 0.62, 0.32, 0.68, 0.26, 0.74, 0.2, 0.8];
  const PIECES = 12;

  const between = ([ax, ay], [bx, by], share) => [ax + share * (bx - ax), ay + share * (by - ay)];
  const apart = ([ax, ay], [bx, by]) => Math.hypot(bx - ax, by - ay);
  const straight = (one, two) => [between(one, two, 1 / 3), between(one, two, 2 / 3), two];

  Report.courseOf = (text) => {
    const course = [];
    for (const [, kind, rest] of text.matchAll(/([MCL])([^MCL]*)/g)) {
      const numbers = rest.match(/-?[\d.]+/g).map(Number);
      const points = [];
      for (let at = 0; at < numbers.length; at += 2) points.push([numbers[at], numbers[at + 1]]);
      course.push(...(kind === "L" ? straight(course.at(-1), points[0]) : points));
    }
    return course;
  };

  const at = ([x, y]) => `${x.toFixed(1)},${y.toFixed(1)}`;

  Report.courseText = (course) => {
    let text = `M${at(course[0])}`;
    for (let place = 1; place + 2 < course.length; place += 3) {
      text += `C${at(course[place])} ${at(course[place + 1])} ${at(course[place + 2])}`;
    }
    return text;
  };

  const pointOf = (a, b, c, d, share) => {
    const rest = 1 - share;
    const [one, two, three, four] = [rest ** 3, 3 * share * rest ** 2, 3 * share ** 2 * rest, share ** 3];
    return [one * a[0] + two * b[0] + three * c[0] + four * d[0], one * a[1] + two * b[1] + three * c[1] + four * d[1]];
  };

  // Points along a course, close enough together for straight pieces between them.
  Report.pointsAlong = (course, pieces = PIECES) => {
    const points = [course[0]];
    for (let place = 0; place + 3 < course.length; place += 3) {
      const own = course.slice(place, place + 4);
      for (let step = 1; step <= pieces; step += 1) points.push(pointOf(...own, step / pieces));
    }
    return points;
  };

  // The points at some shares of the length of a course.
  Report.pointsAt = (course, shares) => {
    const points = Report.pointsAlong(course);
    const lengths = [0];
    for (let place = 1; place < points.length; place += 1) lengths.push(lengths[place - 1] + apart(points[place - 1], points[place]));
    return shares.map((share) => {
      const wanted = share * lengths.at(-1);
      const place = Math.max(1, lengths.findIndex((length) => length >= wanted));
      const step = lengths[place] - lengths[place - 1];
      return between(points[place - 1], points[place], step > 0 ? (wanted - lengths[place - 1]) / step : 0);
    });
  };

  Report.pointAt = (course, share) => Report.pointsAt(course, [share])[0];

  // The first part of one curve.
  const firstPart = ([a, b, c, d], share) => {
    const [ab, bc, cd] = [between(a, b, share), between(b, c, share), between(c, d, share)];
    const [abc, bcd] = [between(ab, bc, share), between(bc, cd, share)];
    return [a, ab, abc, between(abc, bcd, share)];
  };

  // A course without its last points, which its head takes; never more than half of it.
  Report.shortened = (course, length) => {
    let left = length;
    for (let place = course.length - 4; place >= 0; place -= 3) {
      const own = course.slice(place, place + 4);
      const points = Report.pointsAlong(own);
      const steps = points.slice(1).map((point, number) => apart(points[number], point));
      const whole = steps.reduce((sum, step) => sum + step, 0);
      if (whole > left + 1e-6 || place === 0) {
        let rest = Math.min(left, whole / 2);
        for (let number = steps.length - 1; number >= 0; number -= 1) {
          if (rest <= steps[number] && steps[number] > 0) {
            return [...course.slice(0, place), ...firstPart(own, (number + 1 - rest / steps[number]) / PIECES)];
          }
          rest -= steps[number];
        }
      }
      left -= whole;
      if (left <= 1e-6) return course.slice(0, place + 1);
    }
    return course;
  };

  // The head at the end of a course: from where its line ends to where the course does.
  Report.headOn = (course, line, width) => {
    const [tip, foot] = [course.at(-1), line.at(-1)];
    const long = apart(tip, foot) || 1;
    const [across, down] = [(tip[0] - foot[0]) / long, (tip[1] - foot[1]) / long];
    const corner = (side) => [foot[0] - side * down * width / 2, foot[1] + side * across * width / 2];
    return { tip, foot, left: corner(1), right: corner(-1) };
  };

  Report.headText = (kind, { tip, foot, left, right }) => (kind === "angle"
    ? `M${at(foot)}L${at(tip)}M${at(left)}L${at(tip)}L${at(right)}`
    : `M${at(tip)}L${at(left)}L${at(right)}Z`);

  // New lines

  const inside = ([x, y], box, clearance) =>
    Math.abs(x - box.x) < box.across + clearance && Math.abs(y - box.y) < box.down + clearance;

  // The part of a curve from the middle of one box to that of another that lies outside both of them.
  const outside = (curve, from, to) => {
    const steps = 60;
    const point = (share) => pointOf(...curve, share);
    const border = (low, high, box) => {
      let [within, beyond] = [low, high];
      for (let turn = 0; turn < 12; turn += 1) {
        const middle = (within + beyond) / 2;
        if (inside(point(middle), box, 0)) within = middle;
        else beyond = middle;
      }
      return beyond;
    };
    let [first, last] = [0, steps];
    while (first < steps && inside(point(first / steps), from, 0)) first += 1;
    while (last > 0 && inside(point(last / steps), to, 0)) last -= 1;
    if (first > last) return curve;
    const [begin, end] = [border((first - 1) / steps, first / steps, from), border((last + 1) / steps, last / steps, to)];
    const upTo = firstPart(curve, end);
    return firstPart([...upTo].reverse(), 1 - begin / end).reverse();
  };

  // From one box to another: straight, or with the smallest bend that meets the fewest other boxes.
  Report.courseBetween = (from, to, boxes) => {
    const [start, end] = [[from.x, from.y], [to.x, to.y]];
    let best = null;
    for (const bend of BENDS) {
      const handle = [
        (start[0] + end[0]) / 2 - 2 * bend * (end[1] - start[1]),
        (start[1] + end[1]) / 2 + 2 * bend * (end[0] - start[0]),
      ];
      const curve = [start, between(start, handle, 2 / 3), between(end, handle, 2 / 3), end];
      const points = Report.pointsAlong(curve, 40);
      let met = 0;
      for (const box of boxes) {
        if (box !== from && box !== to && points.some((point) => inside(point, box, CLEARANCE))) met += 1;
      }
      if (best === null || met < best.met) best = { met, curve };
      if (met === 0) break;
    }
    return outside(best.curve, from, to);
  };

  // A place for a number on a course where it covers no box and no other number; null, if there is none. `taken` are the
  // middles of other numbers.
  Report.numberPlace = (course, width, height, boxes, taken) => {
    const free = ([x, y]) => {
      for (const box of boxes) {
        if (Math.abs(x - box.x) < box.across + width / 2 && Math.abs(y - box.y) < box.down + height / 2) return false;
      }
      for (const other of taken) {
        if (Math.abs(x - other.x) < width && Math.abs(y - other.y) < height) return false;
      }
      return true;
    };
    return Report.pointsAt(course, SHARES).find(free) ?? null;
  };
}
