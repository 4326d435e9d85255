import { durationText } from '@coracle/api'
import type { ObjectName, PlanReport, ReportedAvailability, ReportedProblem } from '@coracle/simulator'
import { alignTabs } from '../output/align.ts'
import { escapeControls } from '../output/escape-controls.ts'
import { availabilityBar } from './bar.ts'
import { type EventGroup, gatherEvents } from './gather-events.ts'

export interface PlanTextOptions {
  /** The command that was played, as one types it. */
  readonly line: string
  /** What it printed. */
  readonly output: string
  readonly coloured: boolean
}

/** Rows of the timeline and of each list, at most: `-o json` has all. */
export const rowsMax = 200
const barWidth = 40
/** What cannot be read in one column is shortened. */
const messageMax = 160

/** A plan for people: what would happen, how available everything would be, and what would go wrong. Pure. */
export function planText(plan: PlanReport, { line, output, coloured }: PlanTextOptions): string {
  const paint = coloured
    ? (colour: Colour, text: string) => `\u001b[${colours[colour]}m${text}\u001b[0m`
    : (_: Colour, text: string) => text
  const where = new Places(plan)
  const { copy, timeline, availability, problems, durationSeconds } = plan
  const sections = [
    [
      `Plan of: ${line}`,
      `Played on a copy of ${copy.objects} objects as of ${copy.takenAt} (revision ${copy.revision}). Nothing was changed.`,
      ...where.heading,
    ],
    indented(output.trim() === '' ? [] : escapeControls(output.trim()).split('\n')),
    underWay(plan, where),
    timelineRows(gatherEvents(timeline), where),
    availabilityRows(availability, durationSeconds, where, paint),
    problems.map((problem) => problemRow(problem, where, paint)),
    notes(plan, where),
    [verdict(plan, paint)],
  ]
  return `${sections
    .filter((section) => section.length > 0)
    .map((section) => section.join('\n'))
    .join('\n\n')}\n`
}

type Colour = 'good' | 'bad' | 'doubtful'
type Paint = (colour: Colour, text: string) => string
const colours: Readonly<Record<Colour, number>> = { good: 32, bad: 31, doubtful: 33 }

/** How objects are called: with their namespace only where there are several. */
class Places {
  readonly #namespaces: readonly string[]

  constructor({ timeline, availability }: PlanReport) {
    const all = [...timeline, ...availability].map(({ object }) => object.namespace)
    this.#namespaces = [...new Set(all)].filter((namespace) => namespace !== undefined)
  }

  get heading(): readonly string[] {
    const [only] = this.#namespaces
    return this.#namespaces.length === 1 ? [`Namespace: ${only}`] : []
  }

  nameOf({ kind, namespace, name }: ObjectName): string {
    const place = namespace === undefined || this.#namespaces.length < 2 ? '' : `${namespace}/`
    return `${kind.toLowerCase()}/${place}${name}`
  }
}

const indented = (lines: readonly string[]): readonly string[] => shortened(lines).map((each) => `  ${each}`)

function shortened(lines: readonly string[]): readonly string[] {
  if (lines.length <= rowsMax) return lines
  return [...lines.slice(0, rowsMax), `… and ${lines.length - rowsMax} more (-o json has all)`]
}

function underWay({ underWay: { objects, timeline } }: PlanReport, where: Places): readonly string[] {
  const groups = gatherEvents(timeline).filter(({ what }) => what !== 'warning')
  if (objects.length === 0 && groups.length === 0) return []
  const names = objects.map((object) => `${where.nameOf(object)} is not what it was asked to be`)
  return [
    'Already under way, without the change:',
    ...indented(aligned([...names, ...groups.map((group) => eventText(group, where))], 2)),
  ]
}

function timelineRows(groups: readonly EventGroup[], where: Places): readonly string[] {
  const rows = groups.map((group) => `${timeText(group.at).padStart(7)}  ${eventText(group, where)}`)
  return rows.length === 0 ? ['  nothing happens'] : aligned(shortened(rows), 2)
}

const aligned = (rows: readonly string[], padding: number): readonly string[] =>
  alignTabs(rows.join('\n'), { padding })
    .split('\n')
    .map((row) => row.trimEnd())

const timeText = (seconds: number): string => `+${durationText(Math.floor(seconds) * 1000)}`

function eventText({ what, object, owner, count, nodes, from, to, message }: EventGroup, where: Places): string {
  const several = count > 1 && owner !== undefined
  const subject = several ? `${count} pods of ${where.nameOf(owner)}` : where.nameOf(object)
  const details = [
    nodes.length === 0 ? '' : `on ${listed(nodes)}`,
    from !== undefined && to !== undefined ? `from ${from} to ${to}` : to === undefined ? '' : countText(what, to),
    message === undefined ? '' : oneLine(message),
  ].filter((each) => each !== '')
  return `${words[what] ?? what}\t${subject}\t${details.join(', ')}`
}

/** What is not said in one word. */
const words: Readonly<Record<string, string>> = { 'eviction-refused': 'not let go' }

const countText = (what: string, to: number): string => (what === 'restarted' ? `${to} restarts` : `${to} replicas`)

/** Names, the first few of many. */
function listed(names: readonly string[]): string {
  const sorted = names.toSorted()
  return sorted.length <= namesMax
    ? sorted.join(', ')
    : `${sorted.slice(0, namesMax).join(', ')} and ${sorted.length - namesMax} more`
}

const namesMax = 4

function oneLine(text: string): string {
  const line = escapeControls(text).replaceAll(/\s+/g, ' ').trim()
  return line.length <= messageMax ? line : `${line.slice(0, messageMax - 1)}…`
}

function availabilityRows(
  availability: readonly ReportedAvailability[],
  durationSeconds: number,
  where: Places,
  paint: Paint,
): readonly string[] {
  if (availability.length === 0) return []
  // As long again as it takes: the end is to be seen too.
  const seconds = Math.max(1, durationSeconds * 1.1)
  const rows = availability.map(({ object, samples, lowest, promised, by, broken }) => {
    const bar = availabilityBar(samples, seconds, barWidth)
    const shown = broken === undefined ? paint('good', bar) : paint('bad', bar)
    const promise = broken === undefined ? `${promised}` : `${broken.promised}`
    return `${where.nameOf(object)}\t${lowest}\t${promise}\t${shown}  ${by}`
  })
  const scale = `0s${timeText(seconds)
    .slice(1)
    .padStart(barWidth - 2)}`
  return aligned([`AVAILABILITY\tLOWEST\tPROMISED\t${scale}`, ...shortened(rows)], 3)
}

function problemRow({ severity, at, object, message, type }: ReportedProblem, where: Places, paint: Paint): string {
  const sign = severity === 'error' ? paint('bad', '✗') : paint('doubtful', '!')
  const about = object === undefined ? (type === 'refused' ? 'refused' : 'the change') : where.nameOf(object)
  const when = type === 'refused' ? '' : ` (${timeText(at)})`
  return `${sign} ${about}: ${oneLine(message)}${when}`
}

/** What the plan cannot know. */
function notes({ copy, assumptions }: PlanReport, where: Places): readonly string[] {
  const { startDelaySeconds, runSeconds = 0, failRate, seed, steadyLoad, contestedQuotas } = assumptions
  const gaps = copy.gaps.map(({ resource, reason }) => `${resource} (${reason})`)
  const unknown = copy.unknownKinds.map(({ apiVersion, kind, count }) => `${count} ${kind} of ${apiVersion}`)
  const fields = copy.droppedFields.map(({ kind, field }) => `${field} of ${kind}`)
  const refused = copy.refusedObjects.map(({ object }) => object)
  const fails = failRate === 0 ? '' : `, ${Math.round(failRate * 1000) / 10}% of new pods fail (--fail-rate)`
  const noted = (what: string, names: readonly string[]) => (names.length === 0 ? [] : [`${what}: ${listed(names)}`])
  return [
    `Assumed: containers start in ${startDelaySeconds}s (--start-delay), those that end take ${runSeconds}s (--run-time)${fails}; seed ${seed}`,
    ...noted(
      'Assumed to have a load that their number of pods is right for',
      steadyLoad.map((each) => where.nameOf(each)),
    ),
    ...contestedQuotas.map(
      ({ quota, workloads }) =>
        `Chance decides who gets the room of ${where.nameOf(quota)}: ${listed(workloads.map((each) => where.nameOf(each)))}`,
    ),
    ...noted('Not read', gaps),
    ...noted('Read a little later than the rest', copy.later),
    ...noted('Kinds that are not known here', unknown),
    ...noted('Fields that are not known here', fields),
    ...noted('Objects that cannot be read', refused),
    ...noted('Not asked, and may refuse or change what comes', copy.notAsked),
  ]
}

function verdict({ verdict: found, problems, durationSeconds }: PlanReport, paint: Paint): string {
  const time = timeText(durationSeconds).slice(1)
  if (found === 'safe') return paint('good', `Safe: what is promised is kept, and all is done after ${time}.`)
  const errors = problems.filter(({ severity }) => severity === 'error').length
  return paint('bad', `Not safe: ${errors === 1 ? 'one thing goes' : `${errors} things go`} wrong.`)
}
