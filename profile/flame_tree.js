// A tree of calls in drawing order: each node is followed by its callees, the
// heaviest first. It consists of arrays of numbers.
class Tree {
  // Parents come before their children. The first node is the root. In a difference, before has
  // the weights of another profile.
  constructor(parent, frame, self, line, names, before) {
    const size = parent.length;
    const total = Float64Array.from(self);
    const totalBefore = Float64Array.from(before || self);
    const first = new Int32Array(size).fill(-1);
    const next = new Int32Array(size).fill(-1);
    for (let i = size - 1; i > 0; i--) {
      total[parent[i]] += total[i];
      totalBefore[parent[i]] += totalBefore[i];
      next[i] = first[parent[i]];
      first[parent[i]] = i;
    }

    this.size = size;
    this.parent = new Int32Array(size).fill(-1);
    this.end = new Int32Array(size); // after all callees of a node
    this.depth = new Int32Array(size);
    this.frame = new Int32Array(size);
    this.line = new Int32Array(size);
    this.self = new Float64Array(size);
    this.total = new Float64Array(size);
    this.selfBefore = new Float64Array(size);
    this.before = new Float64Array(size); // as total
    this.start = new Float64Array(size); // the weight to the left of it

    const heavierFirst = (a, b) => total[b] - total[a] ||
      (names[frame[a]] < names[frame[b]] ? -1 : names[frame[a]] > names[frame[b]] ? 1 : a - b);
    const filled = new Float64Array(size); // the end of the placed callees
    const waiting = [0], placed = new Int32Array(size);
    let at = 0;
    while (waiting.length > 0) {
      const i = waiting.pop();
      const n = at++;
      placed[i] = n;
      this.frame[n] = frame[i];
      this.line[n] = line[i];
      this.self[n] = self[i];
      this.total[n] = total[i];
      this.selfBefore[n] = (before || self)[i];
      this.before[n] = totalBefore[i];
      if (n > 0) {
        const above = placed[parent[i]];
        this.parent[n] = above;
        this.depth[n] = this.depth[above] + 1;
        this.start[n] = filled[above];
        filled[above] += total[i];
      }
      filled[n] = this.start[n];
      const calls = [];
      for (let c = first[i]; c >= 0; c = next[c]) calls.push(c);
      calls.sort(heavierFirst);
      while (calls.length > 0) waiting.push(calls.pop());
    }

    this.end.fill(size);
    const open = [];
    let rows = 0;
    for (let n = 0; n < size; n++) {
      for (let d = open.length - 1; d >= this.depth[n]; d--) this.end[open.pop()] = n;
      open.push(n);
      rows = Math.max(rows, open.length);
    }
    this.rows = rows;
    // The nodes of each row, from left to right.
    this.rowStart = new Int32Array(rows + 1);
    for (let n = 0; n < size; n++) this.rowStart[this.depth[n] + 1]++;
    for (let d = 0; d < rows; d++) this.rowStart[d + 1] += this.rowStart[d];
    this.rowNodes = new Int32Array(size);
    const fill = this.rowStart.slice();
    for (let n = 0; n < size; n++) this.rowNodes[fill[this.depth[n]]++] = n;
  }

  // Returns the place in rowNodes of the first node of a row that ends after x,
  // from the place low on.
  firstAfter(depth, x, low = this.rowStart[depth]) {
    let high = this.rowStart[depth + 1];
    while (low < high) {
      const middle = (low + high) >> 1;
      const n = this.rowNodes[middle];
      if (this.start[n] + this.total[n] > x) high = middle;
      else low = middle + 1;
    }
    return low;
  }

  // Returns the node of a row that covers x, or -1.
  at(depth, x) {
    if (depth < 0 || depth >= this.rows) return -1;
    const place = this.firstAfter(depth, x);
    if (place >= this.rowStart[depth + 1]) return -1;
    const n = this.rowNodes[place];
    return this.start[n] <= x ? n : -1;
  }

  // Returns the node at a distance in the same row, or -1.
  neighbour(n, step) {
    const depth = this.depth[n];
    const place = this.firstAfter(depth, this.start[n]) + step;
    return place >= this.rowStart[depth] && place < this.rowStart[depth + 1] ? this.rowNodes[place] : -1;
  }

  // Calls visit with each node with a chosen frame that is not below another one.
  outermost(chosen, visit) {
    for (let n = 0; n < this.size;) {
      if (chosen(this.frame[n])) {
        visit(n);
        n = this.end[n];
      } else n++;
    }
  }

  // Returns the weight of each function without and with its callees.
  functions(functionOf, count) {
    const self = new Float64Array(count), total = new Float64Array(count);
    const selfBefore = new Float64Array(count), before = new Float64Array(count);
    const running = new Int32Array(count);
    const path = [];
    for (let n = 0; n < this.size; n++) {
      while (path.length > this.depth[n]) running[path.pop()]--;
      const f = functionOf[this.frame[n]];
      self[f] += this.self[n];
      selfBefore[f] += this.selfBefore[n];
      if (running[f]++ === 0) {
        total[f] += this.total[n];
        before[f] += this.before[n];
      }
      path.push(f);
    }
    return {self, total, selfBefore, before};
  }

  // Returns the tree of a function's callees.
  callees(functionOf, f, names) {
    const merged = new Merged();
    this.outermost((frame) => functionOf[frame] === f, (root) => {
      const path = [merged.root(this.frame[root])];
      for (let n = root; n < this.end[root]; n++) {
        const depth = this.depth[n] - this.depth[root];
        if (depth > 0) path[depth] = merged.node(path[depth - 1], this.frame[n], this.line[n]);
        merged.self[path[depth]] += this.self[n];
        merged.before[path[depth]] += this.selfBefore[n];
      }
    });
    return merged.tree(names);
  }

  // Returns the inverted tree of a function's callers.
  callers(functionOf, f, names) {
    const merged = new Merged();
    this.outermost((frame) => functionOf[frame] === f, (root) => {
      let at = merged.root(this.frame[root]);
      for (let n = this.parent[root]; n > 0; n = this.parent[n]) at = merged.node(at, this.frame[n], this.line[n]);
      merged.self[at] += this.total[root];
      merged.before[at] += this.before[root];
    });
    return merged.tree(names);
  }
}

// A tree that merges several trees.
class Merged {
  constructor() {
    this.parent = [];
    this.frame = [];
    this.self = [];
    this.before = [];
    this.line = [];
    this.known = [];
  }

  add(parent, frame, line) {
    this.parent.push(parent);
    this.frame.push(frame);
    this.line.push(line);
    this.known.push(new Map());
    this.before.push(0);
    return this.self.push(0) - 1;
  }

  root(frame) {
    return this.parent.length > 0 ? 0 : this.add(-1, frame, 0);
  }

  node(parent, frame, line) {
    let n = this.known[parent].get(frame);
    if (n === undefined) {
      n = this.add(parent, frame, line);
      this.known[parent].set(frame, n);
    } else if (this.line[n] !== line) this.line[n] = 0;
    return n;
  }

  tree(names) {
    return new Tree(this.parent, this.frame, this.self, this.line, names, this.before);
  }
}
