import { spawnSync } from 'node:child_process'

/**
 * What is known to be wrong with packages that are installed with ours, in words; npm asks its registry. Where the registry does not
 * answer, that is said and is no finding.
 */
export function audit(root: string): { readonly findings: readonly string[]; readonly notAsked?: string } {
  const { stdout } = spawnSync('npm', ['audit', '--omit=dev', '--json'], { cwd: root, encoding: 'utf8' })
  return auditResult(stdout)
}

/** Reads what `npm audit --json` prints. */
export function auditResult(text: string): ReturnType<typeof audit> {
  const answer = parsed(text)
  if (answer?.vulnerabilities === undefined) {
    const why = answer?.message ?? answer?.error?.summary ?? 'no answer'
    return { findings: [], notAsked: `npm audit was not answered: ${why}` }
  }
  const findings = Object.values(answer.vulnerabilities).map(
    ({ name, severity, range }) => `${name} ${range}: ${severity}`,
  )
  return { findings }
}

interface AuditAnswer {
  readonly vulnerabilities?: Readonly<Record<string, { name: string; severity: string; range: string }>>
  readonly message?: string
  readonly error?: { readonly summary?: string }
}

function parsed(text: string): AuditAnswer | undefined {
  try {
    return JSON.parse(text) as AuditAnswer
  } catch {
    return undefined
  }
}
