import {
  type CertificateSigningRequest,
  certificateSigningRequests,
  formatTime,
  hasDecision,
  hasReason,
} from '@coracle/api'
import { CliError } from '../cli-error.ts'
import type { Host } from '../host.ts'
import { hasFiles } from '../manifests/load-manifests.ts'
import type { Session } from '../session.ts'
import { type ChangeFlags, changeObjects } from './change-objects.ts'
import type { Target } from './targets.ts'

export interface CertificateFlags extends Omit<ChangeFlags, 'dryRun'> {
  /** Writes the decision again where it is there already. */
  readonly force?: boolean
}

/** What `approve` and `deny` write. Reasons and messages are kubectl's, since scripts look for them. */
const decisions = {
  approve: {
    type: 'Approved',
    opposite: 'Denied',
    done: 'approved',
    reason: 'KubectlApprove',
    message: 'This CSR was approved by kubectl certificate approve.',
  },
  deny: {
    type: 'Denied',
    opposite: 'Approved',
    done: 'denied',
    reason: 'KubectlDeny',
    message: 'This CSR was denied by kubectl certificate deny.',
  },
} as const
type Decision = (typeof decisions)[keyof typeof decisions]

/** `coracle certificate approve NAME` */
export const certificateApprove = (host: Host, names: readonly string[], flags: CertificateFlags): Promise<void> =>
  decide(host, names, 'approve', flags)

/** `coracle certificate deny NAME` */
export const certificateDeny = (host: Host, names: readonly string[], flags: CertificateFlags): Promise<void> =>
  decide(host, names, 'deny', flags)

async function decide(
  host: Host,
  names: readonly string[],
  verb: keyof typeof decisions,
  flags: CertificateFlags,
): Promise<void> {
  if (names.length === 0 && !hasFiles(flags)) {
    throw new CliError('one or more CSRs must be specified as <name> or -f <filename>')
  }
  const decision = decisions[verb]
  const args = names.map((name) =>
    name.includes('/') ? name : `certificatesigningrequests.certificates.k8s.io/${name}`,
  )
  let found = 0
  await changeObjects(
    host,
    args,
    verb,
    { ...flags, dryRun: 'none', takesNoNamespace: true },
    async (session, target) => {
      found += 1
      const { kind, group } = target.resource
      if (kind !== 'CertificateSigningRequest') {
        throw new CliError(
          `can only handle CertificateSigningRequest.certificates.k8s.io objects, got ${kind}${group && `.${group}`}`,
        )
      }
      const now = formatTime(host.environment.clock.now())
      return { verb: decision.done, object: await writeDecision(session, target, decision, now, flags.force === true) }
    },
  )
  if (found === 0) host.stdout.write('No resources found\n')
}

/** How often a decision is written again because somebody has changed the request meanwhile, as by kubectl. */
const attemptsMax = 10

async function writeDecision(
  { client }: Session,
  { key, object }: Target,
  decision: Decision,
  now: string,
  force: boolean,
): Promise<CertificateSigningRequest> {
  let request = object as CertificateSigningRequest
  for (let attempt = 1; ; attempt += 1) {
    const wanted = withDecision(request, decision, now)
    if (wanted === request && !force) return request
    try {
      return await client.update(certificateSigningRequests, wanted, { subresource: 'approval' })
    } catch (error) {
      if (!hasReason(error, 'Conflict') || attempt >= attemptsMax) throw error
      request = await client.get(certificateSigningRequests, key)
    }
  }
}

/** The request with the decision; itself where it has it. Throws a CliError where the opposite has been decided. */
function withDecision(
  request: CertificateSigningRequest,
  { type, opposite, reason, message }: Decision,
  now: string,
): CertificateSigningRequest {
  if (hasDecision(request, opposite)) {
    throw new CliError(`certificate signing request ${JSON.stringify(request.metadata.name)} is already ${opposite}`)
  }
  if (hasDecision(request, type)) return request
  const condition = { type, status: 'True', reason, message, lastUpdateTime: now } as const
  const { status } = request
  return { ...request, status: { ...status, conditions: [...(status?.conditions ?? []), condition] } }
}
