import { type CsiDriver, type Pod, serviceAccounts, type TokenRequest } from '@coracle/api'
import type { Client } from '@coracle/client'

/** Texts by text. */
export type TextMap = Readonly<Record<string, string>>

/** What a driver is told of the pod, where it wants to know that (podInfoOnMount). Pure. */
export function podAttributes(pod: Pod, driver: CsiDriver | undefined, isEphemeral: boolean): TextMap {
  if (driver?.spec.podInfoOnMount !== true) return {}
  const { name = '', namespace = '', uid = '' } = pod.metadata
  return {
    'csi.storage.k8s.io/pod.name': name,
    'csi.storage.k8s.io/pod.namespace': namespace,
    'csi.storage.k8s.io/pod.uid': uid,
    'csi.storage.k8s.io/serviceAccount.name': pod.spec.serviceAccountName ?? '',
    'csi.storage.k8s.io/ephemeral': String(isEphemeral),
  }
}

/** Tokens of the pod's service account, where the driver wants some (tokenRequests): by audience, as JSON, under one key. */
export async function tokenAttributes(pod: Pod, driver: CsiDriver | undefined, client: Client): Promise<TextMap> {
  const requests = driver?.spec.tokenRequests ?? []
  if (requests.length === 0) return {}
  const tokens: Record<string, unknown> = {}
  for (const { audience, expirationSeconds } of requests)
    tokens[audience] = await askForToken(pod, client, audience, expirationSeconds)
  return { 'csi.storage.k8s.io/serviceAccount.tokens': JSON.stringify(tokens) }
}

async function askForToken(
  { metadata, spec }: Pod,
  client: Client,
  audience: string,
  expirationSeconds = 3600,
): Promise<TokenRequest['status']> {
  const { namespace = '', name = '', uid = '' } = metadata
  const request: TokenRequest = {
    apiVersion: 'authentication.k8s.io/v1',
    kind: 'TokenRequest',
    metadata: {},
    spec: {
      audiences: audience === '' ? [] : [audience],
      expirationSeconds,
      boundObjectRef: { apiVersion: 'v1', kind: 'Pod', name, uid },
    },
  }
  const account = { namespace, name: spec.serviceAccountName ?? '' }
  const answer = (await client.createSubresource(serviceAccounts, account, 'token', request)) as TokenRequest
  return answer.status
}
