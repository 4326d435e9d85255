/** A template: text as it is, and actions in braces. `{range …}` holds what follows it up to its `{end}`. */
export type TemplatePart =
  | { readonly type: 'action'; readonly path: Path }
  | { readonly type: 'range'; readonly path: Path; readonly body: Template }

export type Template = readonly TemplatePart[]

/** Steps taken one after another, each from all that the one before has found. */
export type Path = readonly Step[]

export type Operator = '==' | '!=' | '<' | '<=' | '>' | '>='

export type Step =
  | { readonly type: 'constant'; readonly value: string | number | boolean }
  | { readonly type: 'field'; readonly name: string }
  /** Every member of an object, every item of a list. */
  | { readonly type: 'wildcard' }
  /** The value itself and all objects and lists in it. */
  | { readonly type: 'descendants' }
  | { readonly type: 'index'; readonly index: number }
  | { readonly type: 'slice'; readonly start?: number; readonly end?: number; readonly step?: number }
  | { readonly type: 'union'; readonly paths: readonly Path[] }
  | { readonly type: 'exists'; readonly path: Path }
  | { readonly type: 'compare'; readonly left: Path; readonly operator: Operator; readonly right: Path }

/** What is wrong with a template, or with what it is applied to. */
export class JsonPathError extends Error {
  override readonly name = 'JsonPathError'
}
