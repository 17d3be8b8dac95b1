module loomverify.invalid/warm

go 1.21
