// Fills the tables of a page that has no other parts to draw.
(() => {
  const { tables } = JSON.parse(document.getElementById("data").textContent);
  for (const table of all("table[data-table]")) {
    const { columns, packed } = tables[table.dataset.table];
    drawTable(table, { columns, rows: unpacked(packed) }, make, () => null);
  }
})();
