import type { KubernetesObject } from '@coracle/api'
import type { DiscoveredResource, ListOptions } from '@coracle/client'
import { CliError } from '../cli-error.ts'
import { parseResourceArguments } from './resource-arguments.ts'
import type { ResourceCatalog } from './resource-catalog.ts'

/** Objects to act on: one by its name, or all of a resource that the selectors let through. */
export interface Selection {
  readonly resource: DiscoveredResource
  /** Absent: all. */
  readonly name?: string
  /** Absent: the session's. */
  readonly namespace?: string
  /** An object of a file that has no name, and so is not asked for. */
  readonly unnamed?: KubernetesObject
}

export interface SelectorFlags {
  /** Every object of the types that are named. */
  readonly all?: boolean
  readonly selector?: string
  readonly fieldSelector?: string
  readonly allNamespaces?: boolean
}

/** kubectl's words where neither arguments nor files say which objects are meant. */
export const nothingNamed = `You must provide one or more resources by argument or filename.
Example resource specifications include:
   '-f rsrc.yaml'
   '--filename=rsrc.json'
   '<resource> <name>'
   '<resource>'`

/** What the arguments of a command mean to this server. Throws a CliError where they and the flags contradict each other. */
export function selectObjects(
  args: readonly string[],
  verb: string,
  catalog: ResourceCatalog,
  flags: SelectorFlags,
): readonly Selection[] {
  const parsed = parseResourceArguments(args, verb)
  if (parsed.form === 'types') {
    return parsed.types.flatMap((type) => catalog.findAll(type)).map((resource) => ({ resource }))
  }
  if (flags.all === true || flags.selector !== undefined || flags.fieldSelector !== undefined) {
    throw new CliError(
      parsed.isPairs
        ? 'selectors and the all flag cannot be used when passing resource/name arguments'
        : 'name cannot be provided when a selector is specified',
    )
  }
  const [first] = parsed.names
  if (!parsed.isPairs && first !== undefined && catalog.findAll(first.type).length > 1) {
    throw new CliError('you must specify only one resource')
  }
  const selections = parsed.names.map(({ type, name }) => ({ resource: catalog.find(type), name }))
  if (flags.allNamespaces === true && selections.some(({ resource }) => resource.namespaced)) {
    throw new CliError('a resource cannot be retrieved by name across all namespaces')
  }
  return selections
}

/** Which objects of a resource to ask for. */
export function listOptions(
  { namespace }: { readonly namespace: string },
  { resource, name, namespace: own }: Selection,
  flags: SelectorFlags,
): ListOptions {
  const fieldSelector = name === undefined ? flags.fieldSelector : `metadata.name=${name}`
  return {
    ...(resource.namespaced && flags.allNamespaces !== true ? { namespace: own ?? namespace } : {}),
    ...(flags.selector === undefined ? {} : { labelSelector: flags.selector }),
    ...(fieldSelector === undefined ? {} : { fieldSelector }),
  }
}
