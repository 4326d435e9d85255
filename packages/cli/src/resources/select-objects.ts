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
}

export interface SelectorFlags {
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
  if (flags.selector !== undefined || flags.fieldSelector !== undefined) {
    throw new CliError('name cannot be provided when a selector is specified')
  }
  if (flags.allNamespaces === true) {
    throw new CliError('a resource cannot be retrieved by name across all namespaces')
  }
  return parsed.names.map(({ type, name }) => ({ resource: catalog.find(type), name }))
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
