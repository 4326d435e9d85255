import { hasReason, isJsonObject, type KubernetesObject } from '@coracle/api'
import { findJsonPath, parseJsonPath } from '@coracle/api/jsonpath'
import { parseDuration } from '@coracle/environment'
import { CliError } from '../cli-error.ts'
import type { Host } from '../host.ts'
import { type OutcomeFlags, OutcomePrinter } from '../output/outcome-printer.ts'
import type { Selection } from '../resources/select-objects.ts'
import { selectObjects } from '../resources/select-objects.ts'
import { type ConnectionFlags, type Session, withSession } from '../session.ts'
import { type Awaited, awaitObject, type IsOver } from './await-object.ts'
import { findTargets, type TargetFlags } from './targets.ts'

export interface WaitFlags extends ConnectionFlags, TargetFlags, OutcomeFlags {
  readonly for: string
  /** Below zero waits for a week, as in kubectl. */
  readonly timeout: string
}

const weekMs = 7 * 24 * 3600 * 1000

/** Whether an object is as it is waited for; undefined: it is not there. */
type Condition = IsOver

/** `coracle wait --for=CONDITION TYPE NAME` */
export async function wait(host: Host, args: readonly string[], flags: WaitFlags): Promise<void> {
  const condition = conditionOf(flags.for)
  const isNegative = flags.timeout.startsWith('-')
  const timeoutMs = isNegative ? weekMs : parseDuration(flags.timeout)
  const deadline = host.environment.clock.now() + timeoutMs
  const printer = await OutcomePrinter.for(host, flags)
  await withSession(host, flags, async (session) => {
    const awaited = await objectsOf(host, session, args, flags)
    if (awaited.length === 0) throw new CliError('no matching resources found')
    for (const each of awaited) {
      let last: KubernetesObject | undefined
      const isOver = async (object: KubernetesObject | undefined) => {
        last = object ?? last
        return condition(object)
      }
      // Nothing is waited for where there is no time: what is, decides.
      const leftMs = Math.max(1, deadline - host.environment.clock.now())
      if (!(await awaitObject(host, session, each, leftMs, isOver))) {
        const where = flags.for === 'create' ? '' : ` on ${each.resource.plural}/${each.key.name}`
        throw new CliError(`timed out waiting for the condition${where}`)
      }
      // What was not there to be deleted is not spoken of.
      if (last !== undefined) await printer.print(each.resource, { verb: 'condition met', object: last })
    }
  })
}

/** The objects to wait for. One that is to be created or deleted need not be there. */
async function objectsOf(
  host: Host,
  session: Session,
  args: readonly string[],
  flags: WaitFlags,
): Promise<readonly Awaited[]> {
  const mayBeMissing = flags.for === 'create' || flags.for === 'delete'
  if (mayBeMissing && flags.filename.length === 0) {
    const selections = selectObjects(args, 'wait', await session.catalog(), flags)
    if (selections.every(({ name }) => name !== undefined)) return selections.map((each) => awaitedOf(session, each))
  }
  const { found, errors } = await findTargets(host, session, args, 'wait', flags)
  const fatal = flags.for === 'delete' ? errors.filter((error) => !hasReason(error, 'NotFound')) : errors
  if (fatal.length > 0) throw new AggregateError(fatal)
  return found
}

function awaitedOf({ namespace }: Session, { resource, name = '' }: Selection): Awaited {
  return { resource, key: { name, ...(resource.namespaced ? { namespace } : {}) } }
}

/** What `--for` asks for. Throws a CliError where it is nothing that can be waited for. */
export function conditionOf(text: string): Condition {
  const lower = text.toLowerCase()
  if (lower === 'delete') return (object) => object === undefined
  if (lower === 'create') return (object) => object !== undefined
  const [kind = ''] = text.split('=', 1)
  const rest = text.slice(kind.length + 1)
  if (kind === 'condition' && rest !== '') return statusCondition(rest)
  if (kind === 'jsonpath' && rest !== '') return pathCondition(rest)
  throw new CliError(`unrecognized condition: ${JSON.stringify(text)}`)
}

function statusCondition(text: string): Condition {
  const [name = '', wanted = 'true'] = text.split('=', 2)
  return (object) => {
    if (object === undefined) return false
    const { status, metadata } = object as KubernetesObject & { readonly status?: unknown }
    const { conditions, observedGeneration } = isJsonObject(status) ? status : {}
    const found = Array.isArray(conditions)
      ? conditions.filter(isJsonObject).find(({ type }) => String(type).toLowerCase() === name.toLowerCase())
      : undefined
    if (found === undefined) return false
    // What a controller says of an earlier spec says nothing of this one.
    const observed = found.observedGeneration ?? observedGeneration
    if (typeof observed === 'number' && observed < (metadata.generation ?? 0)) return false
    return String(found.status).toLowerCase() === wanted.toLowerCase()
  }
}

function pathCondition(text: string): Condition {
  const [, path = '', wanted] = /^(\{.*\}|[^=]*)(?:=(.*))?$/s.exec(text) ?? []
  const expression = path.startsWith('{') ? path : `{${path.startsWith('.') ? '' : '.'}${path}}`
  const template = readPath(expression)
  if (wanted === '') throw new CliError('jsonpath wait has to have a value after equal sign')
  const value = wanted?.replace(/^(["'])(.*)\1$/s, '$2')
  return (object) => {
    if (object === undefined) return false
    const results = findJsonPath(template, object, { requireKeys: false }).flat()
    if (results.length > 1) throw new CliError('given jsonpath expression matches more than one value')
    const [found] = results
    if (found === undefined || found === null) return false
    if (value !== undefined && typeof found === 'object')
      throw new CliError('jsonpath leads to a nested object or list which is not supported')
    return value === undefined || String(found) === value
  }
}

function readPath(expression: string) {
  try {
    return parseJsonPath(expression)
  } catch (error) {
    throw new CliError(`error parsing jsonpath ${expression}, ${error instanceof Error ? error.message : error}`)
  }
}
