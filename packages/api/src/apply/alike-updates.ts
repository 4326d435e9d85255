/**
 * What updates made of owners, remembered for updates that are alike. Pods of one template, and the runs of a schedule, change in
 * the same fields, but for the names of list elements that are each object's own, such as its addresses, and for the time. So
 * owners are known by a pattern, in which such names are replaced by places and times do not count, and what an update makes of
 * a pattern is found out once.
 */
import { compareText } from '../compare-text.ts'
import type { Schema } from '../schema/schema.ts'
import { type Comparison, comparisonOf } from './compare.ts'
import type { Steps } from './difference.ts'
import { type FieldSet, noFields, setOfElements } from './field-set.ts'
import { fieldsText, interned, isShared, isSharedWith, noteOwnNodes } from './interned-sets.ts'
import { atTime, type FieldOwners, isSameManager, type Manager, type Owned, type OwnedChange } from './ownership.ts'
import { type Change, haveSameSteps } from './same-steps.ts'

/** How many updates are remembered, the oldest of which goes first, and how long the text of one may be. */
export const rememberedUpdatesMax = 512
const rememberedTextMax = 8192

/** How many updates are remembered with each pattern, the latest first: most have one or two. */
const patternUpdatesMax = 4

/** Of at least how many names of elements it is known that they were met before, and of at most twice as many. */
const metNamesMax = 512

/** How many patterns are found again by what they have, the oldest of which goes first. */
const knownPatternsMax = 512

/** Owners, some of whose elements are places: `k:#0` stands for the first of the names that belong to it. */
interface Pattern {
  readonly id: number
  /** At the times that were asked for last: what changes at one time shares them. */
  owners: FieldOwners
  /** Names of elements that stand in the owners themselves; undefined until somebody asks. */
  fixedNames: ReadonlySet<string> | undefined
}

/**
 * An update of a pattern, and what it made of it. Steps are mostly the same strings, so to find an update among the latest by its
 * steps costs a tenth of making the text under which all of them are remembered.
 */
interface PatternUpdate {
  readonly manager: Manager
  readonly ranks: string
  readonly placed: Steps
  readonly outcome: Outcome
}

/**
 * What an update made of a pattern. `kept` are the names that are left, as indexes into those of before and of the update, and
 * `times` those of the owners, as indexes into their times before and that of the update; -1 stands for none.
 */
interface Outcome {
  readonly schema: Schema
  readonly stepsCount: number
  readonly pattern: Pattern
  readonly kept: readonly number[]
  readonly times: readonly number[]
}

type Time = Owned['time']

/** How many updates are remembered under each schema for those that come right after, the latest first. */
const recentUpdatesMax = 4

/** An update of one object, and what it made of its owners. */
interface RecentUpdate {
  readonly change: Change
  readonly owners: FieldOwners
  readonly manager: Manager
  readonly time: string
  readonly ownersAfter: FieldOwners
}

const recentUpdates = new WeakMap<Schema, RecentUpdate[]>()

/**
 * The owners after an update in the version of the manager and of the owners: `find` says which, unless one of the latest updates had the
 * same steps and hit objects with the very same owners at the same time. Of objects that are made from one template most have.
 */
export function ownersAfterRecent(
  schema: Schema,
  { before, after, owners, manager }: Pick<OwnedChange, 'before' | 'after' | 'owners' | 'manager'>,
  time: string,
  find: () => FieldOwners,
): FieldOwners {
  const recent = recentUpdates.get(schema) ?? []
  const change = { before, after }
  for (const each of recent) {
    if (each.owners !== owners || each.time !== time || !isSameManager(each.manager, manager)) continue
    if (haveSameSteps(schema, each.change, change)) return each.ownersAfter
  }
  const ownersAfter = find()
  // Owners with names of their own are no other object's.
  if (known.get(owners)?.names.length === 0 && known.get(ownersAfter)?.names.length === 0)
    recentUpdates.set(schema, [
      { change, owners, manager, time, ownersAfter },
      ...recent.slice(0, recentUpdatesMax - 1),
    ])
  return ownersAfter
}

interface Known {
  readonly pattern: Pattern
  readonly names: readonly string[]
}

const known = new WeakMap<FieldOwners, Known>()
const outcomes = new Map<string, Outcome>()
const patterns = new Map<string, Pattern>()
/** The latest updates of each pattern, by its number. Not in the pattern: what came of one would keep what came of that. */
const patternUpdates = new Map<number, readonly PatternUpdate[]>()
let nextId = 0

/** An update of the fields that `steps` name, all in the version of the manager and of the owners. */
export interface Update {
  readonly schema: Schema
  readonly steps: Steps
  readonly manager: Manager
  readonly time: string
}

/**
 * The owners after an update. `record` says what a comparison makes of owners, and must treat all names of elements alike, and
 * of times know only which are the same and which are earlier. The very list where nothing changes, and one list for all to
 * whom the same happens at the same time.
 */
export function ownersAfterAlike(
  owners: FieldOwners,
  { schema, steps, manager, time }: Update,
  record: (owners: FieldOwners, comparison: Comparison) => FieldOwners,
): FieldOwners {
  const { pattern, names } = known.get(owners) ?? newlyKnown(owners)
  const allTimes: Time[] = []
  for (const owner of owners) allTimes.push(owner.time)
  allTimes.push(time)
  let placed = steps
  let allNames = names
  if (steps.some(namesElement)) {
    const places = new Map(names.map((each, place) => [each, place]))
    placed = steps.map((step) => (namesElement(step) ? withPlace(step, pattern, places) : step))
    allNames = [...places.keys()]
  }
  const timeRanks = ranks(allTimes)
  const latest = patternUpdates.get(pattern.id) ?? []
  const outcome = outcomeAmong(latest, schema, manager, timeRanks, placed) ?? remembered()
  const times: Time[] = []
  let isSame = outcome.pattern === pattern && isSameOrder(outcome.kept, names.length)
  for (const index of outcome.times) {
    isSame &&= allTimes[index] === allTimes[times.length]
    times.push(allTimes[index])
  }
  if (isSame) return owners
  return filled(
    outcome.pattern,
    outcome.kept.map((index) => allNames[index] as string),
    times,
  )

  function remembered(): Outcome {
    const { name, operation, apiVersion, subresource } = manager
    const key = [pattern.id, timeRanks, name, operation, apiVersion, subresource, ...placed].join('\n')
    const before = outcomes.get(key)
    // A name may hold a line break: no text that is remembered has more of them than its steps make.
    const outcome = before?.stepsCount === steps.length && before.schema === schema ? before : find(key)
    const updates = [{ manager, ranks: timeRanks, placed, outcome }, ...latest.slice(0, patternUpdatesMax - 1)]
    keep(patternUpdates, pattern.id, updates, knownPatternsMax)
    return outcome
  }

  function find(key: string): Outcome {
    const alike = ownersAt(pattern, allTimes)
    const recorded = record(alike, comparisonOf(placed))
    const found = {
      schema,
      stepsCount: steps.length,
      times: recorded.map((owner) => allTimes.indexOf(owner.time)),
      ...patternOf(recorded, recorded === alike ? pattern : undefined, allNames.length),
    }
    if (key.length <= rememberedTextMax && !placed.some((step) => step.includes('\n')))
      keep(outcomes, key, found, rememberedUpdatesMax)
    return found
  }
}

function outcomeAmong(
  updates: readonly PatternUpdate[],
  schema: Schema,
  { name, operation, apiVersion, subresource }: Manager,
  timeRanks: string,
  placed: Steps,
): Outcome | undefined {
  for (const { manager, ranks, placed: others, outcome } of updates) {
    const isSame =
      others.length === placed.length &&
      outcome.schema === schema &&
      ranks === timeRanks &&
      manager.name === name &&
      manager.operation === operation &&
      manager.apiVersion === apiVersion &&
      manager.subresource === subresource &&
      areSame(others, placed)
    if (isSame) return outcome
  }
  return undefined
}

function areSame(a: Steps, b: Steps): boolean {
  for (let at = 0; at < a.length; at += 1) if (a[at] !== b[at]) return false
  return true
}

/** How many of the times are earlier, for each: which are the same, and their order, whatever they are. */
function ranks(times: readonly Time[]): string {
  let text = ''
  for (const time of times) {
    let earlier = 0
    for (const other of times) if (other !== time && compareText(other ?? '', time ?? '') < 0) earlier += 1
    text += `,${earlier}`
  }
  return text
}

/** Keeps something under a key as the latest; the oldest goes where there are too many. */
function keep<K, T>(kept: Map<K, T>, key: K, value: T, max: number): void {
  kept.set(key, value)
  if (kept.size <= max) return
  for (const oldest of kept.keys()) {
    kept.delete(oldest)
    return
  }
}

function newlyKnown(owners: FieldOwners): Known {
  const made: Known = { pattern: patternWith(owners), names: [] }
  known.set(owners, made)
  return made
}

const setIds = new WeakMap<FieldSet, number>()

/** A number for a set of fields: sets that are shared by all who own the same have the same. */
function idOf(fields: FieldSet): number {
  const before = setIds.get(fields)
  if (before !== undefined) return before
  const id = nextId++
  setIds.set(fields, id)
  return id
}

/** The one pattern of such owners, as long as it is among those that came last. */
function patternWith(owners: FieldOwners): Pattern {
  const text = owners
    .map(({ name, operation, apiVersion, subresource, fields }) =>
      JSON.stringify([name, operation, apiVersion, subresource, idOf(fields)]),
    )
    .join()
  const before = patterns.get(text)
  if (before !== undefined) return before
  const made = { id: nextId++, owners, fixedNames: undefined }
  keep(patterns, text, made, knownPatternsMax)
  return made
}

/** The owners of a pattern, at these times. */
function ownersAt(pattern: Pattern, times: readonly Time[]): FieldOwners {
  const { owners } = pattern
  if (!owners.every((owner, index) => owner.time === times[index]))
    pattern.owners = owners.map((owner, index) => (owner.time === times[index] ? owner : atTime(owner, times[index])))
  return pattern.owners
}

/** Whether a step is about the element of a list, which has a name. */
const namesElement = (step: string): boolean => isNamed(step, 1)
const isNamed = (text: string, at = 0): boolean => text.startsWith('k:', at) || text.startsWith('v:', at)

/**
 * The step with the place of its element, where that has one, or gets the next: one that nobody has met is its object's own.
 */
function withPlace(step: string, pattern: Pattern, places: Map<string, number>): string {
  const element = step.slice(1)
  let place = places.get(element)
  if (place === undefined) {
    if (fixedNamesOf(pattern).has(element) || isMet(element)) return step
    place = places.size
    places.set(element, place)
  }
  return step.charAt(0) + placeFor(element, place)
}

const placeFor = (element: string, place: number): string => `${element.slice(0, 2)}#${place}`

/** After `k:` and `v:` stands JSON, which does not begin with this. */
const placeOf = (element: string): number => (element.charAt(2) === '#' ? Number(element.slice(3)) : -1)

/** Two generations: to delete the oldest of one set, one after another, means to look for it behind the holes of those before. */
let metNames = new Set<string>()
let metBefore: ReadonlySet<string> = new Set<string>()

/** Whether this element was met before. Types of conditions are, again and again. */
function isMet(element: string): boolean {
  if (metNames.has(element)) return true
  if (metNames.size >= metNamesMax) {
    metBefore = metNames
    metNames = new Set()
  }
  metNames.add(element)
  return metBefore.has(element)
}

function fixedNamesOf(pattern: Pattern): ReadonlySet<string> {
  if (pattern.fixedNames !== undefined) return pattern.fixedNames
  const found = new Set<string>()
  for (const { fields } of pattern.owners) collectElements(fields, found)
  pattern.fixedNames = found
  return found
}

function collectElements(set: FieldSet, found: Set<string>): void {
  for (const element of Object.keys(set)) {
    if (isNamed(element)) found.add(element)
    collectElements(set[element] ?? noFields, found)
  }
}

function collectPlaces(set: FieldSet, found: Set<number>): void {
  if (!hasPlaces(set)) return
  for (const element of Object.keys(set)) {
    const place = placeOf(element)
    if (place >= 0) found.add(place)
    collectPlaces(set[element] ?? noFields, found)
  }
}

/**
 * The pattern of recorded owners, whose places are numbered anew, without those that are gone; `same` where they are those of
 * a pattern.
 */
function patternOf(
  recorded: FieldOwners,
  same: Pattern | undefined,
  namesCount: number,
): Pick<Outcome, 'pattern' | 'kept'> {
  const places = new Set<number>()
  for (const { fields } of recorded) collectPlaces(fields, places)
  const kept = Array.from({ length: namesCount }, (_, index) => index).filter((index) => places.has(index))
  if (same !== undefined) return { pattern: same, kept }
  const newPlaces = new Map(kept.map((old, place) => [old, place]))
  const renumbered = kept.every((old, place) => old === place)
    ? recorded
    : recorded.map((owner) => ({
        ...owner,
        fields: interned(
          replaced(owner.fields, (element) => {
            const old = placeOf(element)
            return old < 0 ? element : placeFor(element, newPlaces.get(old) ?? -1)
          }),
        ),
      }))
  return { pattern: patternWith(renumbered), kept }
}

const isSameOrder = (kept: readonly number[], count: number): boolean =>
  kept.length === count && kept.every((old, place) => old === place)

/** The owners of a pattern at these times, with names in its places. Only what is above a place is made anew. */
function filled(pattern: Pattern, names: readonly string[], times: readonly Time[]): FieldOwners {
  const alike = ownersAt(pattern, times)
  if (names.length === 0) {
    if (!known.has(alike)) known.set(alike, { pattern, names })
    return alike
  }
  const owners = alike.map((owner) => (hasPlaces(owner.fields) ? new NamedOwner(owner, names) : owner))
  known.set(owners, { pattern, names })
  return owners
}

/**
 * An owner with names in the places of its fields, which are made when somebody asks for them: the next update does not. Every pod
 * has one: V8 gives each object literal with a getter a shape and a dictionary of its own, a kilobyte in all.
 */
class NamedOwner implements Owned {
  readonly name: string
  readonly operation: Owned['operation']
  readonly apiVersion: string
  readonly subresource: string
  readonly time: Time
  readonly #alike: FieldSet
  readonly #names: readonly string[]
  #fields: FieldSet | undefined

  constructor({ name, operation, apiVersion, subresource, time, fields }: Owned, names: readonly string[]) {
    this.name = name
    this.operation = operation
    this.apiVersion = apiVersion
    this.subresource = subresource
    this.time = time
    this.#alike = fields
    this.#names = names
  }

  get fields(): FieldSet {
    this.#fields ??= replaced(this.#alike, (element) => this.#names[placeOf(element)] ?? element)
    return this.#fields
  }

  get text(): string {
    const { pieces, places } = textWithPlaces(this.#alike)
    if (pieces.length === 0) return fieldsText(this.fields)
    let text = pieces[0] as string
    for (const [index, place] of places.entries()) text += JSON.stringify(this.#names[place]) + pieces[index + 1]
    return text
  }

  get isShared(): boolean {
    return isSharedWith(textWithPlaces(this.#alike).nodesAbovePlaces)
  }
}

/** The JSON of an owner's fields. Of one whose fields are not made it is had without them. */
export const ownedText = (owner: Owned): string => (owner instanceof NamedOwner ? owner.text : fieldsText(owner.fields))

/** Whether all but a little of an owner's fields is shared with others, so that they cost next to nothing to keep. */
export const sharesFields = (owner: Owned): boolean =>
  owner instanceof NamedOwner ? owner.isShared : isShared(owner.fields)

/** The text of a set with places in it. */
interface PlacedText {
  /** What stands before, between and after the places; nothing where the order of the set's elements depends on the names. */
  readonly pieces: readonly string[]
  readonly places: readonly number[]
  /** How many sets have places below. */
  readonly nodesAbovePlaces: number
}

const placedTexts = new WeakMap<FieldSet, PlacedText>()

/** Within JSON no text looks like it: its quotes would be escaped there, and what stands for other elements is JSON itself. */
const placePattern = /"[kv]:#(\d+)"/

function textWithPlaces(set: FieldSet): PlacedText {
  const known = placedTexts.get(set)
  if (known !== undefined) return known
  const parts = isInOrder(set) ? fieldsText(set).split(placePattern) : []
  const made = {
    pieces: parts.filter((_part, index) => index % 2 === 0),
    places: parts.filter((_part, index) => index % 2 === 1).map(Number),
    nodesAbovePlaces: countAbovePlaces(set),
  }
  placedTexts.set(set, made)
  return made
}

/** Whether the elements of a set, and of those below, are in the order of their text whatever the names in their places are. */
function isInOrder(set: FieldSet): boolean {
  if (!hasPlaces(set)) return true
  const elements = Object.keys(set)
  const named = elements.filter((element) => isNamed(element))
  if (named.length > 1 && named.some((element) => placeOf(element) >= 0)) return false
  return elements.every((element) => isInOrder(set[element] ?? noFields))
}

function countAbovePlaces(set: FieldSet): number {
  if (!hasPlaces(set)) return 0
  return Object.values(set).reduce((count, below) => count + countAbovePlaces(below), 1)
}

const placesBelow = new WeakMap<FieldSet, boolean>()

function hasPlaces(set: FieldSet): boolean {
  const before = placesBelow.get(set)
  if (before !== undefined) return before
  const has = Object.keys(set).some((element) => placeOf(element) >= 0 || hasPlaces(set[element] ?? noFields))
  placesBelow.set(set, has)
  return has
}

/** The set with other elements for its places. What has none below is shared. */
function replaced(set: FieldSet, elementFor: (element: string) => string): FieldSet {
  let nodes = 0
  const made = below(set)
  if (made !== set) noteOwnNodes(made, nodes)
  return made

  function below(part: FieldSet): FieldSet {
    if (!hasPlaces(part)) return part
    nodes += 1
    return setOfElements(
      Object.keys(part).map((element) => [elementFor(element), below(part[element] ?? noFields)] as [string, FieldSet]),
    )
  }
}
