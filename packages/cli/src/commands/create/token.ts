import type { KubernetesObject, TokenRequest } from '@coracle/api'
import { objectPath } from '@coracle/client'
import { parseDuration } from '@coracle/environment'
import { CliError, UsageError } from '../../cli-error.ts'
import type { Host } from '../../host.ts'
import { ObjectPrinter } from '../../output/object-printer.ts'
import { type OutputFormatFlags, readOutputFormat } from '../../output/output-format.ts'
import { objectText } from '../../resources/object-text.ts'
import { type ConnectionFlags, withSession } from '../../session.ts'
import { refuseConnected } from '../connection-refusals.ts'

export interface CreateTokenFlags extends ConnectionFlags, OutputFormatFlags {
  readonly allowMissingTemplateKeys: boolean
  readonly audience: readonly string[]
  readonly duration: string
  readonly boundObjectKind?: string
  readonly boundObjectName?: string
  readonly boundObjectUid?: string
}

const kind = { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest' } as const
const bindableKinds = ['Node', 'Pod', 'Secret']

/** `coracle create token SERVICEACCOUNT` */
export async function createToken(host: Host, names: readonly string[], flags: CreateTokenFlags): Promise<void> {
  const [name] = names
  if (name === undefined || names.length > 1) throw new UsageError(`exactly one NAME is required, got ${names.length}`)
  // A template alone is judged, and then the token is printed by itself.
  const format = await readOutputFormat(host, flags, { tables: false })
  const spec = await specOf(flags).catch((refusal: unknown) => refuseConnected(host, flags, refusal))
  await withSession(host, flags, async ({ client, namespace }) => {
    const serviceAccounts = {
      group: '',
      version: 'v1',
      kind: 'ServiceAccount',
      plural: 'serviceaccounts',
      namespaced: true,
    }
    const asked = { ...kind, metadata: {}, spec }
    const answer = await client
      .createSubresource(serviceAccounts, { namespace, name }, 'token', asked)
      .catch(async (error: unknown) => {
        if (!(error instanceof Error)) throw error
        const path = objectPath(serviceAccounts, { namespace, name }, 'token')
        const { plainUnreachable } = await import('../../unreachable.ts')
        throw new CliError(`failed to create token: ${plainUnreachable(error, 'Post', path) ?? error.message}`)
      })
    const request = { ...kind, ...(answer as KubernetesObject) } as TokenRequest
    // Printed also where it is nothing, as Go writes it.
    const object = { ...request, spec: { ...request.spec, boundObjectRef: request.spec.boundObjectRef ?? null } }
    const token = request.status?.token ?? ''
    if (token === '') throw new CliError('failed to create token: no token in server response')
    if (flags.output === undefined) {
      // To be read by programs it stands alone, as with kubectl.
      host.stdout.write(host.stdout.isTerminal ? `${token}\n` : token)
      return
    }
    const resource = {
      group: 'authentication.k8s.io',
      version: 'v1',
      kind: kind.kind,
      plural: 'tokenrequests',
      namespaced: true,
    }
    if (format === undefined || format.type === 'table') {
      host.stdout.write(`${objectText(resource, object.metadata.name)} created\n`)
      return
    }
    host.stdout.write(
      await new ObjectPrinter(format, { requireKeys: !flags.allowMissingTemplateKeys }).one({ resource, object }),
    )
  })
}

/** What is asked for. Rejects with a CliError, in kubectl's words, where flags contradict each other. */
async function specOf({ audience, duration, boundObjectKind: bound, ...flags }: CreateTokenFlags): Promise<object> {
  const seconds = secondsOf(duration)
  if (audience.includes('')) throw new CliError('--audience must not be an empty string')
  const { boundObjectName: name, boundObjectUid: uid } = flags
  if (bound === undefined || bound === '') {
    if (name) throw new CliError('--bound-object-name can only be set if --bound-object-kind is provided')
    if (uid) throw new CliError('--bound-object-uid can only be set if --bound-object-kind is provided')
  } else {
    if (!bindableKinds.includes(bound)) {
      throw new CliError(`supported --bound-object-kind values are ${bindableKinds.join(', ')}`)
    }
    if (!name) throw new CliError('--bound-object-name is required if --bound-object-kind is provided')
  }
  return {
    audiences: audience,
    ...(seconds === 0 ? {} : { expirationSeconds: seconds }),
    ...(bound ? { boundObjectRef: { kind: bound, apiVersion: 'v1', name, ...(uid ? { uid } : {}) } } : {}),
  }
}

function secondsOf(duration: string): number {
  const milliseconds = parseDuration(duration)
  if (milliseconds < 0) throw new CliError('--duration must be greater than or equal to 0')
  if (milliseconds % 1000 !== 0) throw new CliError('--duration cannot be expressed in units less than seconds')
  return milliseconds / 1000
}
