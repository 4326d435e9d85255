import type { ServerResponse } from 'node:http'
import { answerCheck, answerHealth, type HealthCheck, type Logger } from '@coracle/environment'
import type { HealthMetrics } from './health-metrics.ts'
import { sendText } from './respond.ts'

/** The checks behind `/livez` (is the process worth keeping), `/readyz` (does it serve) and `/healthz` (both, of old). */
export type HealthChecks = Readonly<Record<'healthz' | 'livez' | 'readyz', readonly HealthCheck[]>>

/** Who is told what became of the checks. */
export interface HealthListeners {
  readonly logger: Logger
  readonly metrics: HealthMetrics
}

/** Whether a path is one of these, or below: they are answered under any load. */
export const isHealthPath = (path: string): boolean =>
  path.startsWith('/readyz') || path.startsWith('/livez') || path.startsWith('/healthz')

/**
 * Answers `/livez`, `/readyz`, `/healthz` and single checks below them (`/livez/ping`), whose names may have slashes.
 * Undefined where the path is none of these; else it resolves once it is answered.
 */
export function handleHealth(
  checks: HealthChecks,
  path: string,
  query: URLSearchParams,
  response: ServerResponse,
  { logger, metrics }: HealthListeners,
): Promise<void> | undefined {
  const [, name = '', ...parts] = path.split('/')
  if (name !== 'healthz' && name !== 'livez' && name !== 'readyz') return undefined
  const single = parts.join('/')
  if (single === '') return reportAll(name, checks[name], query, response, { logger, metrics })
  const check = checks[name].find((each) => each.name === single)
  return check === undefined ? undefined : reportOne(check, response)
}

async function reportOne(check: HealthCheck, response: ServerResponse): Promise<void> {
  const { code, text } = await answerCheck(check)
  sendText(response, code, text)
}

async function reportAll(
  name: string,
  checks: readonly HealthCheck[],
  query: URLSearchParams,
  response: ServerResponse,
  { logger, metrics }: HealthListeners,
): Promise<void> {
  const { code, text, problems } = await answerHealth(name, checks, query, (check, holds) =>
    metrics.observe(name, check, holds),
  )
  for (const { check, reason } of problems) logger.warn('health check failed', { check: `${name}/${check}`, reason })
  sendText(response, code, text)
}
