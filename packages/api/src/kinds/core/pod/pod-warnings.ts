import { FieldPath } from '../../../field-path.ts'
import type { KubernetesObject } from '../../../meta.ts'
import { checkFormat } from '../../../string-formats.ts'
import type { Container, ContainerPort } from './container.ts'
import type { EnvVar } from './env.ts'
import type { Pod } from './pod-schema.ts'
import type { PodSpec } from './pod-spec.ts'
import type { PodTemplateSpec } from './pod-template.ts'

/** What is allowed in a new pod but hardly meant (api/pod GetWarningsForPod). Updates get none: people seldom make them. */
export function podWarnings(pod: Pod, old: Pod | undefined): readonly string[] {
  if (old !== undefined) return []
  return [...nameWarnings(pod, old, "the Pod's hostname"), ...podSpecWarnings(pod.spec, FieldPath.of('spec'))]
}

/** The same of a template at `path`, whenever the desired state of what it belongs to changes. */
export function podTemplateWarnings(
  template: PodTemplateSpec,
  path: FieldPath,
  { metadata }: KubernetesObject,
  old: KubernetesObject | undefined,
): readonly string[] {
  if (old !== undefined && old.metadata.generation === metadata.generation) return []
  return podSpecWarnings(template.spec, path.field('spec'))
}

/** Warns of a new object whose name is less than a DNS label although `usedIn` wants one. */
export function nameWarnings(
  { metadata: { name } }: KubernetesObject,
  old: KubernetesObject | undefined,
  usedIn: "the Pod's hostname" | 'Pod names and hostnames',
): readonly string[] {
  const problems = name && old === undefined ? checkFormat('dns1123-label', name) : []
  if (problems.length === 0) return []
  return [
    `metadata.name: this is used in ${usedIn}, which can result in surprising behavior; a DNS label is recommended: [${problems.join(' ')}]`,
  ]
}

function podSpecWarnings(spec: PodSpec, path: FieldPath): readonly string[] {
  return [
    ...(['initContainers', 'containers'] as const).flatMap((list) =>
      (spec[list] ?? []).flatMap((container, index) => containerWarnings(container, path.field(list).index(index))),
    ),
    ...(spec.imagePullSecrets ?? []).flatMap(({ name }, index) =>
      name ? [] : [`${path.field('imagePullSecrets').index(index).field('name')}: invalid empty name ""`],
    ),
  ]
}

const containerWarnings = (container: Container, path: FieldPath): readonly string[] => [
  ...hiddenVariables(container.env ?? [], path.field('env')),
  ...duplicatePorts(container.ports ?? [], path.field('ports')),
]

/** A later variable of the same name wins. That is only meant where its value builds on the earlier one. */
function hiddenVariables(env: readonly EnvVar[], path: FieldPath): readonly string[] {
  const seen = new Set<string>()
  return env.flatMap((variable, index) => {
    const isRepeated = seen.has(variable.name)
    seen.add(variable.name)
    if (!isRepeated || buildsOnEarlier(variable)) return []
    return [
      `${path.index(index)}: hides previous definition of "${variable.name}", which may be dropped when using apply`,
    ]
  })
}

function buildsOnEarlier({ name, value = '', valueFrom }: EnvVar): boolean {
  const reference = `$(${name})`
  return valueFrom === undefined && value !== reference && value.includes(reference)
}

function duplicatePorts(ports: readonly ContainerPort[], path: FieldPath): readonly string[] {
  const first = new Map<string, number>()
  return ports.flatMap((port, index) => {
    const key = [port.protocol ?? 'TCP', port.containerPort, port.hostPort ?? 0, port.hostIP ?? ''].join('/')
    const earlier = first.get(key)
    if (earlier === undefined) first.set(key, index)
    return earlier === undefined ? [] : [`${path.index(index)}: duplicate port definition with ${path.index(earlier)}`]
  })
}
