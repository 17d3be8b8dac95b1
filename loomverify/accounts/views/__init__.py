from loomverify.accounts.views.sign_in import locked_out

__all__ = ["locked_out"]
