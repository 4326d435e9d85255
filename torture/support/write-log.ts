/** An object as a read finds it. The label is what the last write to it was called. */
export interface Found {
  readonly revision: number
  readonly label: string
}

/** A write that was sent. Without a label it deletes the object. */
export interface Request {
  readonly name: string
  readonly label: string | undefined
}

interface Known {
  /** Of the last write that is known to have been carried out, as far as its revision is known. */
  readonly revision: number
  /** Absent: the object is deleted. */
  readonly label: string | undefined
}

/** How many problems are kept: the first ones say what is wrong. */
const problemsMax = 20

/**
 * What a client knows of the objects it writes: what was acknowledged or seen by a watch, and what it asked for without an
 * answer. It judges what a server holds after it was killed. Every write has a label of its own.
 */
export class WriteLog {
  readonly #known = new Map<string, Known>()
  readonly #unanswered = new Map<string, Set<Request>>()
  /** Which write each revision was given to. */
  readonly #writes = new Map<number, string>()
  readonly #requested = new Set<string>()
  readonly #problems: string[] = []
  #problemsCount = 0
  #acknowledgedCount = 0
  #highest = 0

  /** The highest revision that was acknowledged or seen. */
  get highest(): number {
    return this.#highest
  }

  get acknowledgedCount(): number {
    return this.#acknowledgedCount
  }

  /** What was found lost or wrong; the first ones in words. */
  get problems(): readonly string[] {
    const more = this.#problemsCount - this.#problems.length
    return more > 0 ? [...this.#problems, `and ${more} more`] : this.#problems
  }

  /** Whether the object is known to exist. */
  has(name: string): boolean {
    return this.#known.get(name)?.label !== undefined
  }

  /** The revisions above `after` that are known to be given. */
  revisionsAfter(after: number): readonly number[] {
    return [...this.#writes.keys()].filter((revision) => revision > after)
  }

  /** A log of its own that knows the same, without problems. */
  copy(): WriteLog {
    const copy = new WriteLog()
    for (const [name, known] of this.#known) copy.#known.set(name, known)
    for (const [name, requests] of this.#unanswered) copy.#unanswered.set(name, new Set(requests))
    for (const [revision, write] of this.#writes) copy.#writes.set(revision, write)
    for (const write of this.#requested) copy.#requested.add(write)
    copy.#highest = this.#highest
    return copy
  }

  /** Notes a write before it is sent. */
  request(name: string, label?: string): Request {
    const request = { name, label }
    const unanswered = this.#unanswered.get(name) ?? new Set()
    this.#unanswered.set(name, unanswered.add(request))
    this.#requested.add(describeWrite(name, label))
    return request
  }

  /** It was carried out. The answer to a deletion has no revision. */
  acknowledge(request: Request, revision?: number): void {
    this.#unanswered.get(request.name)?.delete(request)
    this.#acknowledgedCount++
    const { name, label } = request
    if (revision !== undefined) this.#carriedOut(name, label, revision)
    else this.#known.set(name, { revision: this.#known.get(name)?.revision ?? 0, label })
  }

  /** It was refused, and so changed nothing. */
  refuse(request: Request): void {
    this.#unanswered.get(request.name)?.delete(request)
  }

  /** A watch delivered it: it must be durable, and somebody must have asked for it. */
  watch(name: string, label: string | undefined, revision: number): void {
    const write = describeWrite(name, label)
    if (!this.#requested.has(write)) this.report(`a watch delivered ${write}, which nobody wrote`)
    this.#carriedOut(name, label, revision)
  }

  report(problem: string): void {
    this.#problemsCount++
    if (this.#problems.length < problemsMax) this.#problems.push(problem)
  }

  /**
   * Compares all objects of a server that was started again, at the revision of that list, with what is known, and reports
   * what is lost or wrong. What was unanswered is decided from then on.
   */
  judge(found: ReadonlyMap<string, Found>, revision: number): void {
    if (revision < this.#highest) this.report(`revision ${this.#highest} is lost: the server is at ${revision}`)
    for (const name of new Set([...this.#known.keys(), ...this.#unanswered.keys(), ...found.keys()])) {
      const object = found.get(name)
      const problem = this.#problemOf(name, object)
      if (problem !== undefined) this.report(problem)
      if (object === undefined)
        this.#known.set(name, { revision: this.#known.get(name)?.revision ?? 0, label: undefined })
      else this.#carriedOut(name, object.label, object.revision)
    }
    this.#unanswered.clear()
    this.#highest = Math.max(this.#highest, revision)
  }

  #problemOf(name: string, found: Found | undefined): string | undefined {
    const known = this.#known.get(name)
    const unanswered = [...(this.#unanswered.get(name) ?? [])]
    if (found === undefined) {
      const mayBeGone = known?.label === undefined || unanswered.some(({ label }) => label === undefined)
      return mayBeGone ? undefined : `${name} is lost: it was ${known.label} at revision ${known.revision}`
    }
    if (known !== undefined && found.revision <= known.revision) {
      const isSame = found.revision === known.revision && found.label === known.label
      return isSame ? undefined : `${name} is ${describe(found)} and not ${describe(known)}`
    }
    if (unanswered.some(({ label }) => label === found.label)) return undefined
    return `${name} is ${describe(found)}, which is not what was written last`
  }

  #carriedOut(name: string, label: string | undefined, revision: number): void {
    const write = describeWrite(name, label)
    const other = this.#writes.get(revision)
    if (other !== undefined && other !== write)
      this.report(`revision ${revision} was given to ${other} and to ${write}`)
    this.#writes.set(revision, write)
    this.#highest = Math.max(this.#highest, revision)
    if (revision > (this.#known.get(name)?.revision ?? 0)) this.#known.set(name, { revision, label })
  }
}

const describeWrite = (name: string, label: string | undefined): string =>
  label === undefined ? `deletion of ${name}` : `${name} ${label}`
const describe = ({ revision, label }: Known): string => `${label ?? 'deleted'} at revision ${revision}`
