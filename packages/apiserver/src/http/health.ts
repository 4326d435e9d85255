import type { ServerResponse } from 'node:http'
import { compareText } from '@coracle/api'
import type { Logger } from '@coracle/environment'
import { sendText } from './respond.ts'

/** Something that must hold for the server to be well. */
export interface HealthCheck {
  readonly name: string
  /** Why it does not hold; undefined where it does. Answers within a bounded time. */
  check(): string | undefined | Promise<string | undefined>
}

/** The checks behind `/livez` (is the process worth keeping), `/readyz` (does it serve) and `/healthz` (both, of old). */
export type HealthChecks = Readonly<Record<'healthz' | 'livez' | 'readyz', readonly HealthCheck[]>>

/** Whether a path is one of these, or below: they are answered under any load. */
export const isHealthPath = (path: string): boolean =>
  path.startsWith('/readyz') || path.startsWith('/livez') || path.startsWith('/healthz')

export const ping: HealthCheck = { name: 'ping', check: () => undefined }

/**
 * Answers `/livez`, `/readyz`, `/healthz` and single checks below them (`/livez/ping`) as upstream does: `ok`, or with
 * `?verbose` a line for each check; 500 with all lines where one failed. Undefined where the path is none of these; else it
 * resolves once it is answered.
 */
export function handleHealth(
  checks: HealthChecks,
  path: string,
  query: URLSearchParams,
  response: ServerResponse,
  logger: Logger,
): Promise<void> | undefined {
  const [, name = '', single, ...more] = path.split('/')
  if ((name !== 'healthz' && name !== 'livez' && name !== 'readyz') || more.length > 0) return undefined
  if (single === undefined || single === '') {
    return reportAll(name, checks[name], query, response, logger)
  }
  const check = checks[name].find((each) => each.name === single)
  return check === undefined ? undefined : reportOne(check, response)
}

async function reportOne(check: HealthCheck, response: ServerResponse): Promise<void> {
  const problem = await check.check()
  if (problem === undefined) sendText(response, 200, 'ok')
  else sendText(response, 500, `internal server error: ${problem}\n`)
}

async function reportAll(
  name: string,
  checks: readonly HealthCheck[],
  query: URLSearchParams,
  response: ServerResponse,
  logger: Logger,
): Promise<void> {
  const excluded = new Set(query.getAll('exclude'))
  const lines: string[] = []
  let failed = false
  const problems = await Promise.all(checks.map((check) => (excluded.has(check.name) ? undefined : check.check())))
  for (const [index, check] of checks.entries()) {
    if (excluded.delete(check.name)) {
      lines.push(`[+]${check.name} excluded: ok\n`)
      continue
    }
    const problem = problems[index]
    if (problem === undefined) {
      lines.push(`[+]${check.name} ok\n`)
      continue
    }
    failed = true
    // Anyone may ask, so what exactly is wrong stays in the log.
    lines.push(`[-]${check.name} failed: reason withheld\n`)
    logger.warn('health check failed', { check: `${name}/${check.name}`, reason: problem })
  }
  if (excluded.size > 0) {
    const names = [...excluded].sort(compareText).map((each) => JSON.stringify(each))
    lines.push(`warn: some health checks cannot be excluded: no matches for ${names.join(',')}\n`)
  }
  if (failed) sendText(response, 500, `${lines.join('')}${name} check failed\n`)
  else sendText(response, 200, query.has('verbose') ? `${lines.join('')}${name} check passed\n` : 'ok')
}
