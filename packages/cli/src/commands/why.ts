import { hasReason } from '@coracle/api'
import { httpCauses } from '@coracle/client'
import { type Explanation, explain, follow, gistOf, type Subject, type WhySource } from '@coracle/why'
import { CliError } from '../cli-error.ts'
import type { Host } from '../host.ts'
import { type SerializedFormat, serialize } from '../output/serialize.ts'
import { pause } from '../pause.ts'
import { selectObjects } from '../resources/select-objects.ts'
import { type ConnectionFlags, type Session, withSession } from '../session.ts'
import { changeRows, verdictText, whyText } from '../why/why-text.ts'

export interface WhyFlags extends ConnectionFlags {
  readonly output?: string
  readonly limit: number
  /** Goes on with what is new. */
  readonly watch?: boolean
}

/** `coracle why TYPE/NAME`: what holds an object up, and which changes, by whom, led to how it is. */
export async function why(host: Host, args: readonly string[], flags: WhyFlags): Promise<void> {
  const { output } = flags
  if (output !== undefined && output !== 'json' && output !== 'yaml') {
    throw new CliError(`unknown output format ${JSON.stringify(output)}: use json or yaml, or leave -o out`)
  }
  await withSession(host, flags, async (session) => {
    const subjects = await subjectsOf(session, args)
    const source = { client: session.client, causes: httpCauses(session.client), clock: host.environment.clock }
    if (flags.watch === true) return watch(host, source, subjects, flags.limit, output)
    let isFirst = true
    for (const subject of subjects) {
      const told = await found(subject, explain(source, subject, { changes: flags.limit }))
      const text = output === undefined ? whyText(told, host.environment.clock.now()) : await serialize(told, output)
      host.stdout.write(isFirst || output !== undefined ? text : `\n${text}`)
      isFirst = false
    }
  })
}

async function subjectsOf(session: Session, args: readonly string[]): Promise<readonly Subject[]> {
  const selections = selectObjects(args, 'why', await session.catalog(), {})
  return selections.map(({ resource, name }) => {
    if (name === undefined) throw new CliError(`name one: coracle why ${resource.singular}/NAME`)
    return { resource, name, ...(resource.namespaced ? { namespace: session.namespace } : {}) }
  })
}

/** What is gone is still in the record; what never was is not. */
async function found({ resource, name }: Subject, explanation: Promise<Explanation>): Promise<Explanation> {
  try {
    return await explanation
  } catch (error) {
    if (!hasReason(error, 'NotFound')) throw error
    throw new CliError(
      `${resource.plural} "${name}" not found, and the record has nothing of it: a request that was refused leaves nothing behind`,
    )
  }
}

/** Tells why, then what is new: changes as they come, and what holds the object up whenever that is something else. */
async function watch(
  host: Host,
  source: WhySource,
  subjects: readonly Subject[],
  limit: number,
  output: SerializedFormat | undefined,
): Promise<void> {
  const [subject, ...others] = subjects
  if (subject === undefined || others.length > 0) throw new CliError('name one object to watch')
  const explanations = follow(source, subject, { changes: limit, wait: (ms) => pause(host, ms) })
  for (let before: Explanation | undefined; ; ) {
    const next = await found(subject, nextOf(explanations))
    if (output !== undefined) host.stdout.write(`${output === 'yaml' ? '---\n' : ''}${await serialize(next, output)}`)
    else host.stdout.write(newsText(next, before, host.environment.clock.now()))
    before = next
    await host.stdout.drained()
  }
}

async function nextOf(explanations: AsyncGenerator<Explanation, void, void>): Promise<Explanation> {
  const { value, done } = await explanations.next()
  if (done === true || value === undefined) throw new Error('an explanation is followed until the process ends')
  return value
}

/** New changes, then what holds the object up now where that is something else; all of it the first time. */
function newsText(next: Explanation, before: Explanation | undefined, nowMs: number): string {
  if (before === undefined) return whyText(next, nowMs)
  const { changes = [] } = next
  const rows = changes.length === 0 ? '' : changeRows(changes, nowMs, false)
  return gistOf(next) === gistOf(before) ? rows : `${rows}\n${verdictText(next)}\n`
}
