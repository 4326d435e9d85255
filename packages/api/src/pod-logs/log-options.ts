import { type FieldError, forbiddenField, invalidField } from '../field-error.ts'
import { FieldPath } from '../field-path.ts'
import { isTrue } from '../query-values.ts'
import { badRequest, invalid } from '../status.ts'
import { formatMicroTime, parseTime } from '../time.ts'
import { goTimeFault } from '../time-fault.ts'

/** Which part of a container's log, and how. The names are those of core/v1 PodLogOptions. */
export interface LogOptions {
  /** Empty: the pod's only container. */
  readonly container: string
  readonly follow: boolean
  /** The run of the container before the current one. */
  readonly previous: boolean
  readonly timestamps: boolean
  /** Undefined: all lines. */
  readonly tailLines?: number
  readonly sinceSeconds?: number
  /** Epoch milliseconds. */
  readonly sinceTimeMs?: number
  readonly limitBytes?: number
}

/** Reads and checks the query of a log request (upstream's PodLogOptions). */
export function parseLogOptions(query: Readonly<Record<string, string>>, name: string): LogOptions {
  const errors: FieldError[] = []
  const count = (field: string, least: 0 | 1): number | undefined => {
    const text = query[field]
    if (text === undefined || text === '') return undefined
    if (!/^-?\d+$/.test(text)) throw badRequest(`strconv.ParseInt: parsing ${JSON.stringify(text)}: invalid syntax`)
    const value = Number(text)
    const rule = least === 0 ? 'must be greater than or equal to 0' : 'must be greater than 0'
    if (value < least) errors.push(invalidField(FieldPath.of(field), value, rule))
    return value
  }
  const tailLines = count('tailLines', 0)
  const limitBytes = count('limitBytes', 1)
  const sinceSeconds = count('sinceSeconds', 1)
  const sinceTimeMs = timeOf(query.sinceTime)
  if (sinceSeconds !== undefined && sinceTimeMs !== undefined) {
    // Upstream's path to no field in particular.
    const path = FieldPath.root.key('')
    errors.push(forbiddenField(path, 'at most one of `sinceTime` or `sinceSeconds` may be specified'))
  }
  // It comes with a feature that is off upstream.
  if (query.stream !== undefined) errors.push(forbiddenField(FieldPath.of('stream'), 'may not be specified'))
  if (errors.length > 0) throw invalid({ group: '', kind: 'PodLogOptions' }, name, errors)
  return {
    container: query.container ?? '',
    follow: isTrue(query.follow),
    previous: isTrue(query.previous),
    timestamps: isTrue(query.timestamps),
    ...(tailLines === undefined ? {} : { tailLines }),
    ...(limitBytes === undefined ? {} : { limitBytes }),
    ...(sinceSeconds === undefined ? {} : { sinceSeconds }),
    ...(sinceTimeMs === undefined ? {} : { sinceTimeMs }),
  }
}

function timeOf(text: string | undefined): number | undefined {
  if (text === undefined || text === '') return undefined
  const ms = parseTime(text)
  if (Number.isNaN(ms)) throw badRequest(goTimeFault(text) ?? 'not a time')
  return ms
}

/** The query that `parseLogOptions` reads as these options; the container is in the path. */
export function logQuery({ follow, previous, timestamps, ...rest }: LogOptions): Readonly<Record<string, string>> {
  const { tailLines, sinceSeconds, sinceTimeMs, limitBytes } = rest
  const flags = Object.entries({ follow, previous, timestamps }).filter(([, isSet]) => isSet)
  const numbers = Object.entries({ tailLines, sinceSeconds, limitBytes }).filter(([, value]) => value !== undefined)
  return {
    ...Object.fromEntries([...flags, ...numbers].map(([name, value]) => [name, String(value)])),
    ...(sinceTimeMs === undefined ? {} : { sinceTime: formatMicroTime(sinceTimeMs) }),
  }
}
