import { compareText } from '../compare-text.ts'
import { ApiError } from '../status.ts'
import { pathsOf } from './field-set.ts'
import type { Manager, OwnershipConflict } from './ownership.ts'

/** The answer to an apply that would change what others own: it names each of them with the fields, in upstream's words. */
export function applyConflict(conflicts: readonly OwnershipConflict[]): ApiError {
  const all = conflicts
    .toSorted((a, b) => compareText(a.manager.name, b.manager.name))
    .map(({ manager, fields }) => ({ who: managerText(manager), paths: [...pathsOf(fields)].map(pathText) }))
  const causes = all.flatMap(({ who, paths }) =>
    paths.map((field) => ({ reason: 'FieldManagerConflict', message: `conflict with ${who}`, field })),
  )
  const [first] = causes
  const lines = all.flatMap(({ who, paths }) => [`conflicts with ${who}:`, ...paths.map((path) => `- ${path}`)])
  const message =
    causes.length === 1
      ? `Apply failed with 1 conflict: ${first?.message}: ${first?.field}`
      : `Apply failed with ${causes.length} conflicts: ${lines.join('\n')}`
  return new ApiError(409, 'Conflict', message, { causes })
}

function managerText({ name, subresource, operation, apiVersion }: Manager): string {
  const who = JSON.stringify(name) + (subresource === '' ? '' : ` with subresource ${JSON.stringify(subresource)}`)
  return operation === 'Update' ? `${who} using ${apiVersion}` : who
}

/** A path as people read it: `.spec.containers[name="web"].image`. */
export function pathText(path: readonly string[]): string {
  return path.map(elementText).join('')
}

function elementText(element: string): string {
  const rest = element.slice(2)
  switch (element.slice(0, 2)) {
    case 'f:':
      return `.${rest}`
    case 'k:': {
      const keys = Object.entries(JSON.parse(rest) as Readonly<Record<string, unknown>>)
      return `[${keys.map(([name, value]) => `${name}=${JSON.stringify(value)}`).join(',')}]`
    }
    case 'v:':
      return `[=${rest}]`
    default:
      return `[${rest}]`
  }
}
