/** The types that a file of Go declares, by the names of their packages and their own. */
export interface DeclaredTypes<Field> {
  readonly structs: Map<string, readonly Field[]>
  /** What other types are declared as. */
  readonly others: Map<string, string>
}

/** Adds the types that a file declares to those that are known. `fieldsOfLine` reads a line of a struct, without comments. */
export function readDeclarations<Field>(
  text: string,
  packageName: string,
  { structs, others }: DeclaredTypes<Field>,
  fieldsOfLine: (line: string) => readonly Field[],
): void {
  let open: { readonly name: string; readonly fields: Field[] } | undefined
  for (const raw of text.replace(/\/\*[\s\S]*?\*\//g, '').split('\n')) {
    const line = raw.replace(/(^|\s)\/\/.*$/, '').trim()
    if (open === undefined) {
      const [, struct] = /^(?:type )?(\w+) struct \{$/.exec(line) ?? []
      const [, other = '', is = ''] = /^type (\w+) (?:= )?([\w.[\]*]+)$/.exec(line) ?? []
      if (struct !== undefined) open = { name: `${packageName}.${struct}`, fields: [] }
      else if (other !== '') others.set(`${packageName}.${other}`, is)
    } else if (line === '}') {
      structs.set(open.name, open.fields)
      open = undefined
    } else {
      open.fields.push(...fieldsOfLine(line))
    }
  }
}
