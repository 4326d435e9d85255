import { deepFreeze } from '../../../freeze.ts'
import type { ObjectSchema } from '../../../schema/schema.ts'
import { mapShared, withFields } from '../../../schema/with-fields.ts'
import { type ResourceList, wholeMillis } from '../common.ts'
import {
  type Container,
  type ContainerPort,
  containerPort,
  container as containerSchema,
  type EphemeralContainer,
  ephemeralContainer,
  terminationMessagePathDefault,
} from './container.ts'
import { podResourceDefaults } from './pod-level-resources.ts'
import { type Pod, podSchema } from './pod-schema.ts'
import { type PodSpec, podSpec, schedulerNameDefault } from './pod-spec.ts'
import {
  httpGetAction,
  type Lifecycle,
  type LifecycleHandler,
  lifecycleHandler,
  lifecycle as lifecycleSchema,
  type Probe,
  probe as probeSchema,
} from './probe.ts'
import { type ResourceRequirements, resourceRequirements } from './resources.ts'
import { imageVolumeSource, type Volume, volume as volumeSchema } from './volume.ts'

/**
 * Defaults of a pod spec that depend on other fields, wherever the spec stands: in a pod or in a template. They come
 * after the schema's own. An empty string or a zero counts as absent where it does upstream (core/v1 SetDefaults_*).
 */
export function podSpecDefaults(spec: PodSpec): PodSpec {
  const container = (each: Container): Container => containerDefaults(containerSchema, each)
  return withFields(podSpec, spec, {
    restartPolicy: orElse(spec.restartPolicy, 'Always'),
    dnsPolicy: orElse(spec.dnsPolicy, 'ClusterFirst'),
    schedulerName: spec.schedulerName || schedulerNameDefault,
    ...serviceAccountNames(spec),
    containers: mapShared(spec.containers, container),
    initContainers: mapShared(spec.initContainers, container),
    ephemeralContainers: mapShared(spec.ephemeralContainers, (each) => containerDefaults(ephemeralContainer, each)),
    volumes: mapShared(spec.volumes, volumeDefaults),
    overhead: wholeMillis(spec.overhead),
    resources: spec.resources && requirementsDefaults(spec.resources),
  })
}

/** What the defaults make of specs that nobody can change any more: a controller gives all its pods the same. */
const completed = new WeakMap<PodSpec, PodSpec>()

/**
 * Defaults of a pod: those of its spec, and the ones that templates leave to the pods made from them. A spec that is the one of
 * `complete` has them.
 */
export function podDefaults(pod: Pod, complete?: Pod): Pod {
  const { spec } = pod
  if (spec === complete?.spec) return pod
  const known = completed.get(spec)
  const filled = known ?? ownSpecDefaults(spec)
  if (known === undefined && Object.isFrozen(spec)) completed.set(spec, deepFreeze(filled))
  return withFields(podSchema, pod, { spec: filled })
}

function ownSpecDefaults(written: PodSpec): PodSpec {
  const spec = podSpecDefaults(written)
  const finish = (container: Container): Container => podContainerDefaults(container, spec.hostNetwork === true)
  const finished = withFields(podSpec, spec, {
    enableServiceLinks: spec.enableServiceLinks ?? true,
    terminationGracePeriodSeconds: gracePeriodSeconds(spec.terminationGracePeriodSeconds),
    containers: mapShared(spec.containers, finish),
    initContainers: mapShared(spec.initContainers, finish),
  })
  return withPodResources(finished)
}

/** Comes after the containers' own requests, which it adds up. */
function withPodResources(spec: PodSpec): PodSpec {
  const filled = podResourceDefaults(spec)
  if (spec.resources === undefined || filled === undefined) return spec
  return withFields(podSpec, spec, { resources: withFields(resourceRequirements, spec.resources, filled) })
}

const domain = '(?:localhost|[a-zA-Z0-9-]+(?:\\.[a-zA-Z0-9-]+)+|[a-zA-Z0-9-]+(?=:\\d)|\\[[a-fA-F0-9:]+\\])(?::\\d+)?'
const pathComponent = '[a-z0-9]+(?:(?:\\.|_|__|-+)[a-z0-9]+)*'
/** The grammar of images: a registry, a path in lower case, a tag, a digest. */
const imageReference = new RegExp(
  `^(?:${domain}/)?${pathComponent}(?:/${pathComponent})*(?::[\\w][\\w.-]{0,127})?(?:@[A-Za-z][\\w+.-]*:[0-9a-fA-F]+)?$`,
)

/** What looks like the identity of an image is no name of one. */
const imageId = /^[a-f0-9]{64}$/
const repositoryLengthMax = 255

/** Whether the repository, without its registry, has too long a name. */
function isTooLong(image: string): boolean {
  const [, path = ''] = /^(?:[^/]*[.:][^/]*\/|localhost\/)?([^:@]*)/.exec(image) ?? []
  return path.length > repositoryLengthMax
}

/** What a pull policy is for an image: a tag that moves, or none, is pulled always. */
export function imagePullPolicyDefault(image = ''): 'Always' | 'IfNotPresent' {
  // What is no image has no tag that moves.
  if (!imageReference.test(image) || isTooLong(image) || imageId.test(image)) return 'IfNotPresent'
  const tag = tagOf(image)
  const moves = tag === undefined ? image !== '' && !image.includes('@') : tag === 'latest'
  return moves ? 'Always' : 'IfNotPresent'
}

/** The tag of an image, which a port of its registry is not, nor its digest. */
function tagOf(image: string): string | undefined {
  const [name = ''] = image.split('@')
  const last = name.slice(name.lastIndexOf('/') + 1)
  const colon = last.indexOf(':')
  return colon < 0 ? undefined : last.slice(colon + 1)
}

/** serviceAccount is the old name of serviceAccountName: both are kept, and the new one wins. */
function serviceAccountNames(spec: PodSpec): Pick<PodSpec, 'serviceAccount' | 'serviceAccountName'> {
  const name = spec.serviceAccountName || spec.serviceAccount
  return name ? { serviceAccountName: name, serviceAccount: name } : {}
}

/** A negative grace period has meant one second ever since it was possible to store one. */
const gracePeriodSeconds = (seconds: number | bigint | undefined): number | bigint | undefined =>
  seconds !== undefined && seconds < 0 ? 1 : seconds

function containerDefaults<C extends Container | EphemeralContainer>(schema: ObjectSchema<C>, container: C): C {
  const defaults: Partial<Container> = {
    imagePullPolicy: orElse(container.imagePullPolicy, imagePullPolicyDefault(container.image)),
    terminationMessagePath: container.terminationMessagePath || terminationMessagePathDefault,
    terminationMessagePolicy: orElse(container.terminationMessagePolicy, 'File'),
    ports: mapShared(container.ports, portDefaults),
    resources: container.resources && requirementsDefaults(container.resources),
    livenessProbe: container.livenessProbe && probeDefaults(container.livenessProbe),
    readinessProbe: container.readinessProbe && probeDefaults(container.readinessProbe),
    startupProbe: container.startupProbe && probeDefaults(container.startupProbe),
    lifecycle: container.lifecycle && lifecycleDefaults(container.lifecycle),
  }
  return withFields(schema, container, defaults as Partial<C>)
}

const requirementsDefaults = (resources: ResourceRequirements): ResourceRequirements =>
  withFields(resourceRequirements, resources, {
    requests: wholeMillis(resources.requests),
    limits: wholeMillis(resources.limits),
  })

const portDefaults = (port: ContainerPort): ContainerPort =>
  withFields(containerPort, port, { protocol: orElse(port.protocol, 'TCP') })

function probeDefaults(probe: Probe): Probe {
  return withFields(probeSchema, httpDefaults(probeSchema, probe), {
    timeoutSeconds: probe.timeoutSeconds || 1,
    periodSeconds: probe.periodSeconds || 10,
    successThreshold: probe.successThreshold || 1,
    failureThreshold: probe.failureThreshold || 3,
  })
}

function lifecycleDefaults(lifecycle: Lifecycle): Lifecycle {
  return withFields(lifecycleSchema, lifecycle, {
    postStart: lifecycle.postStart && httpDefaults(lifecycleHandler, lifecycle.postStart),
    preStop: lifecycle.preStop && httpDefaults(lifecycleHandler, lifecycle.preStop),
  })
}

function httpDefaults<H extends Probe | LifecycleHandler>(schema: ObjectSchema<H>, handler: H): H {
  const { httpGet } = handler
  if (httpGet === undefined) return handler
  const defaults = {
    httpGet: withFields(httpGetAction, httpGet, { path: httpGet.path || '/', scheme: orElse(httpGet.scheme, 'HTTP') }),
  }
  return withFields(schema, handler, defaults as Partial<H>)
}

function volumeDefaults(volume: Volume): Volume {
  // A volume without a source is an empty directory.
  const hasSource = Object.entries(volume).some(([field, value]) => field !== 'name' && value !== undefined)
  if (!hasSource) return withFields(volumeSchema, volume, { emptyDir: {} })
  const { image } = volume
  if (image === undefined) return volume
  const pullPolicy = orElse(image.pullPolicy, imagePullPolicyDefault(image.reference))
  return withFields(volumeSchema, volume, { image: withFields(imageVolumeSource, image, { pullPolicy }) })
}

function podContainerDefaults(container: Container, hostNetwork: boolean): Container {
  const { resources } = container
  return withFields(containerSchema, container, {
    resources:
      resources &&
      withFields(resourceRequirements, resources, {
        requests: requestsWithLimits(resources.requests, resources.limits),
      }),
    ports: hostNetwork ? mapShared(container.ports, hostPortDefaults) : container.ports,
  })
}

/** Each limit without a request is a request too. */
function requestsWithLimits(
  requests: ResourceList | undefined,
  limits: ResourceList | undefined,
): ResourceList | undefined {
  if (limits === undefined) return requests
  const missing = Object.entries(limits).filter(([name]) => requests?.[name] === undefined)
  return missing.length === 0 ? requests : { ...requests, ...Object.fromEntries(missing) }
}

/** On the node's network a container port is a port of the node. */
const hostPortDefaults = (port: ContainerPort): ContainerPort =>
  withFields(containerPort, port, { hostPort: port.hostPort || port.containerPort })

/** `value`, or `fallback` where it is absent or an empty string that slipped past the type. */
const orElse = <T extends string>(value: T | undefined, fallback: T): T => (value ? value : fallback)
