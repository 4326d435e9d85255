import {
  applyStrategicMergePatch,
  type Container,
  container as containerSchema,
  type EphemeralContainer,
  type Node,
  type Pod,
} from '@coracle/api'
import { CliError } from '../../cli-error.ts'
import { applyProfile, changeContainer, type DebugStyle, type KeepFlags } from './profiles.ts'

/** What a container to debug with is like, and what is done with the pod around it. */
export interface DebugRequest extends KeepFlags {
  readonly image?: string
  readonly command: readonly string[]
  /** The command is what the image's command gets, and not that itself. */
  readonly argumentsOnly?: boolean
  readonly env: Readonly<Record<string, string>>
  readonly imagePullPolicy?: string
  readonly stdin?: boolean
  readonly tty?: boolean
  /** The container whose processes an ephemeral one is to see. */
  readonly target?: string
  readonly copyTo?: string
  readonly sameNode?: boolean
  readonly shareProcesses?: boolean
  /** Images by the names of containers; of those that are not named by `*`. */
  readonly setImage: Readonly<Record<string, string>>
  readonly profile: string
  /** A part of a container that goes over what a profile makes. */
  readonly custom?: object
}

/** The pod with an ephemeral container more. */
export function withDebugContainer(pod: Pod, name: string, request: DebugRequest): Pod {
  const { target } = request
  const added: EphemeralContainer = {
    name,
    ...containerFields(request),
    ...(target === undefined ? {} : { targetContainerName: target }),
  }
  const { ephemeralContainers = [] } = pod.spec
  const changed = { ...pod, spec: { ...pod.spec, ephemeralContainers: [...ephemeralContainers, added] } }
  return finished('ephemeral', changed, name, request)
}

/**
 * A copy of a pod with a container more, or another image or command for one of its own; `name` is that container's, and undefined where
 * only images are other ones. Throws a CliError where a new container has no image.
 */
export function copyForDebugging(
  pod: Pod,
  request: DebugRequest,
  newName: (pod: Pod) => string,
  wanted: string | undefined,
): { readonly copy: Pod; readonly name: string | undefined } {
  const { image, setImage, command } = request
  const copy = copyOf(pod, request)
  const isThere = wanted !== undefined && containerNames(copy).includes(wanted)
  if (!isThere && image === undefined) {
    if (Object.keys(setImage).length > 0) return { copy, name: undefined }
    throw new CliError('you must specify image when creating new container')
  }
  const name = wanted ?? newName(copy)
  const added = isThere ? [] : [{ name, terminationMessagePolicy: 'File' as const }]
  const { stdin = false, tty = false, env, imagePullPolicy, argumentsOnly } = request
  const changed = changeContainer(
    { ...copy, spec: { ...copy.spec, containers: [...copy.spec.containers, ...added] } },
    name,
    (each) => {
      const { stdin: _stdin, tty: _tty, args, ...rest } = each
      const keepsArguments = args !== undefined && (command.length === 0 || argumentsOnly === true)
      return {
        ...(rest as typeof each),
        ...(keepsArguments ? { args } : {}),
        ...(command.length === 0 ? {} : { [argumentsOnly === true ? 'args' : 'command']: command }),
        ...(Object.keys(env).length === 0 ? {} : { env: variablesOf(env) }),
        ...(image === undefined ? {} : { image }),
        ...(imagePullPolicy ? { imagePullPolicy } : {}),
        ...(stdin ? { stdin } : {}),
        ...(tty ? { tty } : {}),
      }
    },
  )
  return { copy: finished('copy', changed, name, request), name }
}

/** A pod on a node, with the node's namespaces and files as the profile has it. */
export function podOnNode(node: Node, podName: string, name: string, request: DebugRequest): Pod {
  const pod: Pod = {
    apiVersion: 'v1',
    kind: 'Pod',
    // kubectl's own, so that whoever looks for such pods finds all of them.
    metadata: { name: podName, labels: { 'app.kubernetes.io/managed-by': 'kubectl-debug' } },
    spec: {
      containers: [{ name, ...containerFields(request) }],
      nodeName: node.metadata.name,
      restartPolicy: 'Never',
      tolerations: [{ operator: 'Exists' }],
    },
  }
  return finished('node', pod, name, request)
}

/** Names of all containers of a pod. */
export function containerNames({ spec }: Pod): readonly string[] {
  const { containers, initContainers = [], ephemeralContainers = [] } = spec
  return [...containers, ...initContainers, ...ephemeralContainers].map(({ name }) => name)
}

function copyOf({ metadata, spec }: Pod, { copyTo = '', sameNode, shareProcesses, setImage }: DebugRequest): Pod {
  const { labels, annotations, namespace } = metadata
  const { ephemeralContainers: _ephemeral, nodeName, ...rest } = spec
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      name: copyTo,
      ...(namespace === undefined ? {} : { namespace }),
      ...(labels === undefined ? {} : { labels }),
      ...(annotations === undefined ? {} : { annotations }),
    },
    spec: {
      ...rest,
      ...(sameNode === true && nodeName !== undefined ? { nodeName } : {}),
      ...(shareProcesses === undefined ? {} : { shareProcessNamespace: shareProcesses }),
      containers: rest.containers.map((each) => {
        const image = Object.hasOwn(setImage, each.name) ? setImage[each.name] : setImage['*']
        return image === undefined ? each : { ...each, image }
      }),
    },
  }
}

function containerFields(request: DebugRequest): Omit<Container, 'name'> {
  const { image, command, argumentsOnly, env, imagePullPolicy, stdin, tty } = request
  return {
    ...(image === undefined ? {} : { image }),
    ...(command.length === 0 ? {} : { [argumentsOnly === true ? 'args' : 'command']: command }),
    ...(Object.keys(env).length === 0 ? {} : { env: variablesOf(env) }),
    ...(imagePullPolicy ? { imagePullPolicy: imagePullPolicy as 'Always' } : {}),
    ...(stdin === true ? { stdin } : {}),
    ...(tty === true ? { tty } : {}),
    terminationMessagePolicy: 'File',
  }
}

const variablesOf = (env: Readonly<Record<string, string>>) =>
  Object.entries(env).map(([name, value]) => ({ name, value }))

function finished(style: DebugStyle, pod: Pod, name: string, request: DebugRequest): Pod {
  const profiled = applyProfile(request.profile, style, pod, name, request)
  const { custom } = request
  if (custom === undefined) return profiled
  return changeContainer(
    profiled,
    name,
    (each) => applyStrategicMergePatch(containerSchema, each, { ...custom, name }) as typeof each,
  )
}
