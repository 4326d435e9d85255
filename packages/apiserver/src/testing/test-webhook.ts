import type { ServerResponse } from 'node:http'
import { createServer } from 'node:https'
import type { KubernetesObject } from '@coracle/api'
import { realEnvironment } from '@coracle/environment'
import { createPki, type Pki } from '../security/certificates.ts'
import { listenForTest } from './listen-for-test.ts'

/** What a webhook is asked. */
export interface TestReviewRequest {
  readonly uid: string
  readonly kind: { readonly group: string; readonly version: string; readonly kind: string }
  readonly resource: { readonly group: string; readonly version: string; readonly resource: string }
  readonly subResource?: string
  readonly requestKind: { readonly group: string; readonly version: string; readonly kind: string }
  readonly name?: string
  readonly namespace?: string
  readonly operation: string
  // biome-ignore lint/suspicious/noExplicitAny: tests look into all kinds of objects
  readonly object: any
  // biome-ignore lint/suspicious/noExplicitAny: tests look into all kinds of objects
  readonly oldObject: any
  readonly options: Readonly<Record<string, unknown>> | null
  readonly userInfo: Readonly<Record<string, unknown>>
  readonly dryRun: boolean
}

/** What a webhook says; `patch` as operations. Or how the answer is sent, where it is none. */
export type TestAnswer =
  | {
      readonly allowed?: boolean
      readonly patch?: readonly object[]
      readonly status?: object
      readonly warnings?: readonly string[]
      readonly auditAnnotations?: object
      readonly [other: string]: unknown
    }
  | ((response: ServerResponse) => void)

export interface TestWebhook {
  /** All that it was asked, in order. */
  readonly requests: readonly TestReviewRequest[]
  /** How many connections were made to it. */
  readonly connections: number
  /** Resolves when a connection to it has ended. */
  readonly disconnected: Promise<void>
  /** The paths and hosts it was asked by. */
  readonly addresses: readonly string[]
  readonly port: number
  /** Its own, which `caBundle` vouches for. */
  readonly certificatePem: string
  readonly clientConfig: { readonly url: string; readonly caBundle: string }
}

/** Who a webhook is, and the authority that vouches for it. */
export type TestWebhookIdentity = Pick<Pki, 'ca' | 'serving'>

let pki: Pki | undefined

/**
 * A webhook on this machine, over TLS, until the test ends. It allows everything unless told otherwise. Its certificate is also for the
 * service `hook` in `default`, unless it has one of its own.
 */
export async function startTestWebhook(
  answer: (request: TestReviewRequest) => TestAnswer | Promise<TestAnswer> = () => ({}),
  identity?: TestWebhookIdentity,
): Promise<TestWebhook> {
  pki ??= createPki(realEnvironment(), ['hook.default.svc'])
  const { ca, serving } = identity ?? pki
  const requests: TestReviewRequest[] = []
  const addresses: string[] = []
  let connections = 0
  const disconnected = Promise.withResolvers<void>()
  const server = createServer({ key: serving.keyPem, cert: serving.certificatePem }, async (asked, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of asked) chunks.push(chunk as Buffer)
    const { apiVersion, kind, request } = JSON.parse(Buffer.concat(chunks).toString())
    requests.push(request)
    addresses.push(`${asked.headers.host}${asked.url}`)
    const said = await answer(request)
    if (typeof said === 'function') return said(response)
    const { patch, ...rest } = said
    const encoded =
      patch === undefined
        ? {}
        : { patch: Buffer.from(JSON.stringify(patch)).toString('base64'), patchType: 'JSONPatch' }
    response.setHeader('Content-Type', 'application/json')
    const own = { uid: request.uid, allowed: true, ...encoded, ...rest }
    response.end(JSON.stringify({ apiVersion, kind, response: own }))
  })
  server.on('secureConnection', (socket) => {
    connections += 1
    socket.once('close', () => disconnected.resolve())
  })
  // Connections end when the client ends them.
  server.keepAliveTimeout = 0
  const port = await listenForTest(server)
  const caBundle = Buffer.from(ca.certificatePem).toString('base64')
  return {
    requests,
    addresses,
    port,
    certificatePem: serving.certificatePem,
    disconnected: disconnected.promise,
    get connections() {
      return connections
    },
    clientConfig: { url: `https://127.0.0.1:${port}/admit`, caBundle },
  }
}

/** A webhook of a configuration that is asked about config maps being created or changed, unless `more` says otherwise. */
export function webhookOf({ clientConfig }: Pick<TestWebhook, 'clientConfig'>, more: object = {}): object {
  return {
    name: 'check.example.com',
    clientConfig,
    rules: [{ operations: ['CREATE', 'UPDATE'], apiGroups: [''], apiVersions: ['v1'], resources: ['configmaps'] }],
    sideEffects: 'None',
    admissionReviewVersions: ['v1'],
    ...more,
  }
}

/** A configuration with these webhooks. */
export function webhookConfiguration<T extends KubernetesObject>(
  kind: 'MutatingWebhookConfiguration' | 'ValidatingWebhookConfiguration',
  name: string,
  ...webhooks: readonly object[]
): T {
  const apiVersion = 'admissionregistration.k8s.io/v1'
  return { apiVersion, kind, metadata: { name }, webhooks } as unknown as T
}
