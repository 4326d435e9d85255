import { createHash } from 'node:crypto'
import { deepEqual, type ReplicationController, sortKeys } from '@coracle/api'
import { CliError } from '../../cli-error.ts'

/** Notes that an update leaves on its controllers, so that another run can go on from them: kubectl's of old. */
export const annotations = {
  /** On the new controller: how many pods it is to have in the end. */
  desired: 'kubectl.kubernetes.io/desired-replicas',
  /** On the new controller: the old one. */
  partner: 'kubectl.kubernetes.io/update-partner',
  /** On the old controller: how many pods it had. */
  original: 'kubectl.kubernetes.io/original-replicas',
  /** On the old controller, where it keeps its name: what it is to be in the end. */
  successor: 'coracle.dev/rolling-update-successor',
} as const

export interface ImageUpdate {
  readonly image: string
  /** Which container, where there are several. */
  readonly container?: string
  readonly pullPolicy?: string
  /** The label that tells the pods of the two apart. */
  readonly labelKey: string
  /** Absent: the controller keeps its name. */
  readonly name?: string
}

/** The controller that a file says, as the successor of another. Throws a CliError where their pods could not be told apart. */
export function controllerOfFile(
  old: ReplicationController,
  made: ReplicationController,
  source: string,
): ReplicationController {
  const name = old.metadata.name ?? ''
  if (made.metadata.name === name) {
    throw new CliError(`${source} cannot have the same name as the existing ReplicationController ${name}`)
  }
  const selector = made.spec.selector ?? made.spec.template?.metadata?.labels ?? {}
  const isOther = Object.entries(old.spec.selector ?? {}).some(
    ([key, value]) => selector[key] !== undefined && selector[key] !== value,
  )
  if (!isOther) {
    throw new CliError(`${source} must specify a matching key with non-equal value in Selector for ${name}`)
  }
  return made
}

/** The controller that runs another image; a label of its own tells its pods from those of the old one. */
export function controllerOfImage(old: ReplicationController, update: ImageUpdate): ReplicationController {
  const { metadata, spec } = old
  const { template } = spec
  const containers = template?.spec.containers ?? []
  const { image, container, labelKey, pullPolicy } = update
  if (container === undefined && containers.length > 1) {
    throw new CliError('Must specify container to update when updating a multi-container pod')
  }
  const changed = containers.map((each) =>
    container === undefined || each.name === container
      ? { ...each, image, ...(pullPolicy === undefined ? {} : { imagePullPolicy: pullPolicy as 'Always' }) }
      : each,
  )
  if (container !== undefined && !containers.some(({ name }) => name === container)) {
    throw new CliError(`unable to find container named ${JSON.stringify(container)}`)
  }
  if (deepEqual(changed, containers)) {
    throw new CliError('Specified --image must be distinct from existing container image')
  }
  const { [labelKey]: _, ...labels } = template?.metadata?.labels ?? {}
  const podSpec = { ...template?.spec, containers: changed }
  const hash = hashOf({ labels, spec: podSpec })
  return {
    apiVersion: 'v1',
    kind: 'ReplicationController',
    metadata: {
      name: update.name ?? `${metadata.name}-${hash}`,
      ...(metadata.namespace === undefined ? {} : { namespace: metadata.namespace }),
      ...(metadata.labels === undefined ? {} : { labels: metadata.labels }),
    },
    spec: {
      ...spec,
      selector: { ...spec.selector, [labelKey]: hash },
      template: {
        ...template,
        metadata: { ...template?.metadata, labels: { ...labels, [labelKey]: hash } },
        spec: podSpec,
      },
    },
  } as ReplicationController
}

/** The value of the label that tells the pods of a controller from those of its successor. */
export function ownHash({ spec: { template } }: ReplicationController, labelKey: string): string {
  const { [labelKey]: _, ...labels } = template?.metadata?.labels ?? {}
  return hashOf({ labels, spec: template?.spec })
}

const hashOf = (value: unknown): string =>
  createHash('sha256')
    .update(JSON.stringify(sortKeys(value)))
    .digest('hex')
    .slice(0, 10)

/** The count noted in an annotation; undefined where there is none, or it is no count. */
export function notedCount({ metadata }: ReplicationController, annotation: string): number | undefined {
  const text = metadata.annotations?.[annotation]
  return text !== undefined && /^\d+$/.test(text) ? Number(text) : undefined
}
