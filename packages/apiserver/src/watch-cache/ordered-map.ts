import sortedBtree from 'sorted-btree'

// The package is CommonJS that marks itself as compiled from a module: Node gives its exports as the default, tools that
// go by the mark (Vite among them, and compilers that resolve as bundlers do) give the class itself.
type BTreeClass = typeof sortedBtree extends { readonly default: infer C } ? C : typeof sortedBtree

const BTree: BTreeClass = 'default' in sortedBtree ? sortedBtree.default : (sortedBtree as BTreeClass)

/** A map in the order of its string keys. `clone` takes constant time: copies share what neither has changed since. */
export type OrderedMap<V> = InstanceType<typeof BTree<string, V>>

/** An empty map. Keys are compared by UTF-16 units, which for names of the API is the order of their bytes. */
export function createOrderedMap<V>(): OrderedMap<V> {
  return new BTree<string, V>(undefined, compareUnits)
}

function compareUnits(a: string, b: string): number {
  return a === b ? 0 : a < b ? -1 : 1
}
