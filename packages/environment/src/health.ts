/** Something that must hold for a process to be well. */
export interface HealthCheck {
  readonly name: string
  /** Why it does not hold; undefined where it does. Answers within a bounded time. */
  check(): string | undefined | Promise<string | undefined>
}

/** Holds for as long as the process answers at all. */
export const ping: HealthCheck = { name: 'ping', check: () => undefined }

/** Told of each check that was made whether it holds. */
export type HealthObserver = (check: string, holds: boolean) => void

/** What is answered to somebody who asks. */
export interface HealthAnswer {
  readonly code: 200 | 500
  readonly text: string
  /** What does not hold, for the log: anyone may ask, and is not told why. */
  readonly problems: readonly { readonly check: string; readonly reason: string }[]
}

/**
 * Answers for all checks of an endpoint such as `readyz` as upstream's servers do: `ok`, or with `?verbose` a line for each check;
 * 500 with all lines where one failed. `?exclude=<check>` leaves checks out.
 */
export async function answerHealth(
  name: string,
  checks: readonly HealthCheck[],
  query: URLSearchParams,
  observe: HealthObserver = () => {},
): Promise<HealthAnswer> {
  const excluded = new Set(query.getAll('exclude'))
  const lines: string[] = []
  const problems: { readonly check: string; readonly reason: string }[] = []
  const reasons = await Promise.all(checks.map((check) => (excluded.has(check.name) ? undefined : check.check())))
  for (const [index, check] of checks.entries()) {
    const reason = reasons[index]
    if (excluded.delete(check.name)) {
      lines.push(`[+]${check.name} excluded: ok\n`)
      continue
    }
    observe(check.name, reason === undefined)
    if (reason === undefined) lines.push(`[+]${check.name} ok\n`)
    else {
      lines.push(`[-]${check.name} failed: reason withheld\n`)
      problems.push({ check: check.name, reason })
    }
  }
  if (excluded.size > 0) {
    const names = [...excluded].sort().map((each) => JSON.stringify(each))
    lines.push(`warn: some health checks cannot be excluded: no matches for ${names.join(',')}\n`)
  }
  if (problems.length > 0) return { code: 500, text: `${lines.join('')}${name} check failed\n`, problems }
  return { code: 200, text: query.has('verbose') ? `${lines.join('')}${name} check passed\n` : 'ok', problems }
}

/** Answers for one check alone, such as `readyz/ping`. */
export async function answerCheck(check: HealthCheck): Promise<HealthAnswer> {
  const reason = await check.check()
  if (reason === undefined) return { code: 200, text: 'ok', problems: [] }
  return { code: 500, text: `internal server error: ${reason}\n`, problems: [{ check: check.name, reason }] }
}
