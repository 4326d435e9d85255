import { createHash } from 'node:crypto'
import {
  apiVersionOf,
  builtinKinds,
  compile,
  type Pod,
  podReferences,
  type StoredKind,
  type Toleration,
  validateObjectMeta,
} from '@coracle/api'
import { staticAnnotations } from './is-mirror.ts'

/** Namespace and name. */
export const keyOf = ({ metadata: { namespace = '', name = '' } }: Pod): string => `${namespace}/${name}`

/** Where a manifest of a static pod is from, and where it is to run. */
export interface StaticPodOrigin {
  readonly nodeName: string
  readonly path: string
  /** When it was first seen, as RFC 3339. */
  readonly seenAt: string
}

/** Nothing that happens to its node makes it leave. */
const staysOnNode: Toleration = { operator: 'Exists', effect: 'NoExecute' }

/**
 * The pod that a manifest is of, under the name that it has on this node, and known by what it says (upstream's applyDefaults and tryDecodeSinglePod).
 * Throws an Error where it is none that can be run.
 */
export function staticPodOf(manifest: unknown, { nodeName, path, seenAt }: StaticPodOrigin): Pod {
  const { apiVersion, kind } = (manifest ?? {}) as { readonly apiVersion?: unknown; readonly kind?: unknown }
  if (apiVersion !== apiVersionOf(podKind) || kind !== podKind.kind) throw new Error('it is no Pod of v1')
  const compiled = compile(podKind.schema)
  const decoded = compiled.applyDefaults(compiled.decode(manifest).value) as Pod
  const given = (podKind.applyDefaults?.(decoded) ?? decoded) as Pod
  const { name = '', namespace = 'default', annotations, labels, uid = hashOf(given, nodeName, path) } = given.metadata
  const { tolerations = [] } = given.spec
  const pod: Pod = {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      name: `${name}-${nodeName.toLowerCase()}`,
      namespace,
      uid,
      ...(labels === undefined ? {} : { labels }),
      annotations: {
        ...annotations,
        [staticAnnotations.hash]: uid,
        [staticAnnotations.seen]: seenAt,
        [staticAnnotations.source]: 'file',
      },
    },
    spec: { ...given.spec, nodeName, tolerations: [...tolerations.filter((each) => !isAll(each)), staysOnNode] },
  }
  const errors = [
    ...(name === '' ? ['metadata.name: Required value'] : []),
    ...[
      ...validateObjectMeta(pod.metadata, podKind),
      ...compiled.validate(pod),
      ...(podKind.strategy.validate?.(pod, 'v1') ?? []),
      ...(podKind.strategy.validateCreate?.(pod, 'v1') ?? []),
    ].map((error) => `${error.field}: ${error.message}`),
  ]
  if (errors.length > 0) throw new Error(`invalid pod: [${errors.join(', ')}]`)
  const [reference] = podReferences(pod)
  if (reference !== undefined) throw new Error(`static pods may not reference ${reference.plural}`)
  return pod
}

const podKind = builtinKinds.find(({ kind }) => kind === 'Pod') as unknown as StoredKind<Pod>

const isAll = ({ key = '', operator, effect }: Toleration): boolean =>
  key === '' && operator === 'Exists' && effect === 'NoExecute'

function hashOf(pod: Pod, nodeName: string, path: string): string {
  const text = `host:${nodeName}file:${path}${JSON.stringify(pod)}`
  return createHash('sha256').update(text).digest('hex').slice(0, 32)
}
