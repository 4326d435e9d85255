import sortedBtree from 'sorted-btree'

type BTreeClass = typeof sortedBtree.default

/**
 * The ordered map. The package is CommonJS that marks itself as compiled from a module: Node gives its exports as the
 * default, tools that go by the mark (Vite among them) give the class itself.
 */
export const BTree: BTreeClass = 'default' in sortedBtree ? sortedBtree.default : (sortedBtree as BTreeClass)
