import { expand } from './expand.ts'
import { ProcessTexts, processTextBytesMax, tooLong } from './limits.ts'

/**
 * A command with its references to variables replaced. `part` names it in errors: `args`. Throws where a piece, or all
 * together, are more than a process takes.
 */
export function expandCommand(
  command: readonly string[] | undefined,
  values: ReadonlyMap<string, string>,
  part: string,
): readonly string[] {
  const texts = new ProcessTexts(part)
  return (command ?? []).map((text, index) => {
    const about = `${part}[${index}]`
    const expanded = expand(text, (name) => values.get(name), processTextBytesMax)
    if (expanded === undefined) throw new Error(tooLong(about))
    texts.add(expanded, about)
    return expanded
  })
}
