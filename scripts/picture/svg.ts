import type { Line } from './record.ts'

/** Longer lines end in `…`: at GitHub's width this many can be read. */
const columnsMax = 104
const columnWidth = 8.43
const rowHeight = 21
const margin = 18
const titleHeight = 34

/** No pause of the session is longer in the picture. */
const pauseMaxMs = 1200

/**
 * A terminal with the lines of a session, which come one after the other, once, in the rhythm in which they came. Who wants no motion
 * sees all of them at once. It is dark whatever the page is, and needs no font that a system does not have.
 */
export function terminalSvg(lines: readonly Line[], title: string): string {
  const width = Math.round(columnsMax * columnWidth + 2 * margin)
  const height = titleHeight + lines.length * rowHeight + margin
  const delays = delaysOf(lines)
  const rows = lines.map((line, index) => {
    const y = titleHeight + (index + 1) * rowHeight - 4
    return `<text xml:space="preserve" class="${line.kind}" x="${margin}" y="${y}" style="animation-delay:${delays[index]}ms">${content(line)}</text>`
  })
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img" aria-label="${escaped(title)}">
<!-- Written by \`npm run picture\` from a run of the program. -->
<title>${escaped(title)}</title>
<style>
text{font:14px ui-monospace,SFMono-Regular,Menlo,Consolas,"DejaVu Sans Mono",monospace;fill:#c9d1d9;white-space:pre;animation:come 1ms both}
.command{fill:#fff;font-weight:600}.prompt{fill:#3fb950}.remark,.time{fill:#8b949e}.advice{fill:#79c0ff}.bad{fill:#ff7b72}.good{fill:#56d364}
@keyframes come{from{opacity:0}to{opacity:1}}
@media (prefers-reduced-motion:reduce){text{animation:none}}
</style>
<rect x=".5" y=".5" width="${width - 1}" height="${height - 1}" rx="9" fill="#0d1117" stroke="#30363d"/>
<circle cx="20" cy="18" r="5.5" fill="#ff5f57"/><circle cx="39" cy="18" r="5.5" fill="#febc2e"/><circle cx="58" cy="18" r="5.5" fill="#28c840"/>
${rows.join('\n')}
</svg>
`
}

/** When each line comes: pauses are as long as they were, up to a limit, and long enough to see that something came. */
function delaysOf(lines: readonly Line[]): readonly number[] {
  let delay = 300
  return lines.map(({ kind, atMs }, index) => {
    const pause = atMs - (lines[index - 1]?.atMs ?? atMs)
    if (index > 0) delay += Math.min(Math.max(pause, kind === 'command' ? 700 : 40), pauseMaxMs)
    return delay
  })
}

function content({ kind, text }: Line): string {
  const shown = fitted(text)
  if (kind === 'command') return `<tspan class="prompt">$ </tspan>${escaped(shown)}`
  return escaped(shown)
    .replace(/^\d\d:\d\d:\d\d/, '<tspan class="time">$&</tspan>')
    .replace(/^ {2}→.*/, '<tspan class="advice">$&</tspan>')
    .replace(/CrashLoopBackOff|\bError\b|^error:.*/, '<tspan class="bad">$&</tspan>')
    .replace(/successfully rolled out|\bready$|4\/4/, '<tspan class="good">$&</tspan>')
}

/** A line that is too long has its columns closed up, and then its end left out. */
function fitted(text: string): string {
  if (text.length <= columnsMax) return text
  const closed = text.replaceAll(/(?<=\S) {2,}/g, '  ')
  return closed.length <= columnsMax ? closed : `${closed.slice(0, columnsMax - 1)}…`
}

const escaped = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;')
