import { hasReason, type KubernetesObject } from '@coracle/api'
import { CliError } from '../cli-error.ts'
import type { Host } from '../host.ts'
import { serialize } from '../output/serialize.ts'
import { TablePrinter, type TableStyle } from '../output/table-printer.ts'
import { fetchTable, listAll } from '../resources/fetch.ts'
import { kindText, objectText } from '../resources/object-text.ts'
import { listOptions, type Selection, selectObjects } from '../resources/select-objects.ts'
import { type Session, withSession } from '../session.ts'
import { type GetFlags, shown } from './get-flags.ts'
import { watchObjects } from './watch-objects.ts'

/** `coracle get TYPE [NAME]` */
export async function get(host: Host, args: readonly string[], flags: GetFlags): Promise<void> {
  await withSession(host, flags, async (session) => {
    const selections = selectObjects(args, 'get', await session.catalog(), flags)
    const [first, ...others] = selections
    if (first === undefined) return
    if (flags.watch === true) {
      if (others.length > 0) throw new CliError('you may only specify a single resource type or name with --watch')
      await watchObjects(
        host,
        session,
        first,
        listOptions(session, first, flags),
        flags,
        tableStyle(flags, first, false),
      )
    } else if (flags.output === undefined || flags.output === 'wide') {
      await printTables(host, session, selections, flags)
    } else {
      await printObjects(host, session, selections, flags)
    }
  })
}

/** How the table of a resource looks. Names carry their kind where several kinds are shown. */
function tableStyle(flags: GetFlags, { resource }: Selection, isMixed: boolean): TableStyle {
  return {
    wide: flags.output === 'wide',
    headers: flags.headers,
    namespaces: flags.allNamespaces === true && resource.namespaced,
    labels: flags.showLabels === true,
    labelColumns: flags.labelColumns,
    ...(isMixed ? { namePrefix: kindText(resource) } : {}),
  }
}

async function printTables(
  host: Host,
  session: Session,
  selections: readonly Selection[],
  flags: GetFlags,
): Promise<void> {
  const errors: unknown[] = []
  const groups = groupByResource(selections)
  let isFirst = true
  for (const group of groups) {
    const [head] = group
    if (head === undefined) continue
    const printer = new TablePrinter(tableStyle(flags, head, groups.length > 1))
    let isEmpty = true
    for (const selection of group) {
      try {
        const table = await fetchTable(session, selection, listOptions(session, selection, flags))
        if (table.rows.length === 0) continue
        if (isEmpty && !isFirst && flags.headers) host.stdout.write('\n')
        host.stdout.write(printer.print(table))
        isEmpty = false
      } catch (error) {
        if (!(flags.ignoreNotFound === true && hasReason(error, 'NotFound'))) errors.push(error)
      }
    }
    isFirst = isFirst && isEmpty
  }
  if (errors.length > 0) throw new AggregateError(errors)
  if (isFirst && flags.ignoreNotFound !== true) host.stderr.write(nothingFound(session, selections, flags))
}

/** Neighbours of one resource share a table. */
function groupByResource(selections: readonly Selection[]): readonly (readonly Selection[])[] {
  const groups: Selection[][] = []
  for (const selection of selections) {
    const last = groups.at(-1)
    if (last?.[0]?.resource === selection.resource) last.push(selection)
    else groups.push([selection])
  }
  return groups
}

function nothingFound(session: Session, selections: readonly Selection[], flags: GetFlags): string {
  const isScoped = selections.some(({ resource }) => resource.namespaced) && flags.allNamespaces !== true
  return isScoped ? `No resources found in ${session.namespace} namespace.\n` : 'No resources found\n'
}

async function printObjects(
  host: Host,
  session: Session,
  selections: readonly Selection[],
  flags: GetFlags,
): Promise<void> {
  const errors: unknown[] = []
  const objects: { readonly selection: Selection; readonly object: KubernetesObject }[] = []
  for (const selection of selections) {
    try {
      const found = await fetchObjects(session, selection, flags)
      objects.push(...found.map((object) => ({ selection, object })))
    } catch (error) {
      if (!(flags.ignoreNotFound === true && hasReason(error, 'NotFound'))) errors.push(error)
    }
  }
  const [first] = objects
  const isSingle = selections.length === 1 && selections[0]?.name !== undefined
  if (flags.output === 'name') {
    for (const { selection, object } of objects) {
      host.stdout.write(`${objectText(selection.resource, object.metadata.name ?? '')}\n`)
    }
  } else if (first !== undefined || (!isSingle && errors.length === 0)) {
    const items = objects.map(({ object }) => shown(object, flags))
    const list = { apiVersion: 'v1', kind: 'List', metadata: { resourceVersion: '' }, items }
    host.stdout.write(await serialize(isSingle ? items[0] : list, flags.output === 'yaml' ? 'yaml' : 'json'))
  }
  if (errors.length > 0) throw new AggregateError(errors)
}

async function fetchObjects(
  session: Session,
  selection: Selection,
  flags: GetFlags,
): Promise<readonly KubernetesObject[]> {
  const { resource, name } = selection
  if (name === undefined) return listAll(session.client, resource, listOptions(session, selection, flags))
  const namespace = resource.namespaced ? { namespace: session.namespace } : {}
  return [await session.client.get(resource, { name, ...namespace })]
}
